// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

final class EpollTlsFrameReaderTest extends FrameReaderContract {

    EpollTlsFrameReaderTest() {
        super(Wires.EPOLL, true);
    }
}
