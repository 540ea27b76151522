package io.bulla.interop.netty;

final class NioFrameReaderTest extends FrameReaderContract {

    NioFrameReaderTest() {
        super(Wires.NIO, false);
    }
}
