// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

final class IoUringFrameReaderTest extends FrameReaderContract {

    IoUringFrameReaderTest() {
        super(Wires.IO_URING, false);
    }
}
