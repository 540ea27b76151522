// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

final class TlsFrameReaderTest extends FrameReaderContract {

    TlsFrameReaderTest() {
        super(Wires.NIO, true);
    }
}
