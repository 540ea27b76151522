// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

final class NioFrameReaderTest extends FrameReaderContract {

    NioFrameReaderTest() {
        super(Wires.NIO, false);
    }
}
