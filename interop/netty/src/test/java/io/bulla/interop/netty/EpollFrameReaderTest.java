// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

final class EpollFrameReaderTest extends FrameReaderContract {

    EpollFrameReaderTest() {
        super(Wires.EPOLL, false);
    }
}
