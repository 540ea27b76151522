// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;

/// A node's bytes, from which the fuzzer starts.
public final class WireSeeds {

    private static final int TAG = 5;
    private static final int SESSION = 77;
    private static final long LIFE = 4711;
    private static final long WINDOW = 1 << 20;

    private WireSeeds() {}

    /// One header of each kind.
    ///
    /// @return headers
    public static List<byte[]> headers() {
        return List.of(
                bytes(frame(Frame.Kind.DIRECT, 0, 0, 100, 100, 0)),
                bytes(frame(Frame.Kind.DIRECT, 0, 2048, 5000, 1024, 1)),
                bytes(frame(Frame.Kind.BROADCAST, 1, 0, 4, 4, 0)),
                bytes(frame(Frame.Kind.CONFIRM, 0, 0, 8, 8, 0)),
                bytes(frame(Frame.Kind.SKIP, 3, 0, 0, 0, 0)),
                bytes(control(Frame.acknowledgement(0, new long[3], new long[2], 0))),
                bytes(control(Frame.control(Frame.Kind.REFUSE, 2, 0, 16))),
                bytes(control(Frame.control(Frame.Kind.BYE, 0, 0, 0))),
                bytes(control(Frame.control(Frame.Kind.BATCH, 0, 0, 136))));
    }

    /// A hello's body.
    ///
    /// @return 88 bytes
    public static byte[] hello() {
        ByteBuf out = Unpooled.buffer();
        new Hello(2, 9, 0, 4, 5, SESSION, 0, 3, 1, 0, LIFE, WINDOW, WINDOW, 0).writeTo(out);
        return bytes(out);
    }

    /// A hello, with its header.
    ///
    /// @param rank whose
    /// @param nodes how many there are
    /// @return what a peer says first
    static byte[] hello(int rank, int nodes) {
        ByteBuf out = control(Frame.control(Frame.Kind.HELLO, 0, rank, Hello.BYTES));
        new Hello(Frame.VERSION, Frame.VERSION, rank, nodes, 1, SESSION, 0, 0, 0, 0, LIFE, WINDOW, WINDOW, 0)
                .writeTo(out);
        return bytes(out);
    }

    /// What an unknown peer says first.
    ///
    /// @return whole conversations
    public static List<byte[]> unknownPeers() {
        return List.of(
                hello(0, 4),
                bytes(Unpooled.wrappedBuffer(hello(3, 4), bytes(message(0, 0, 4)))),
                bytes(control(Frame.control(Frame.Kind.REFUSE, 1, 0, 3)).writeZero(3)));
    }

    /// What rank 0 says after its hello.
    ///
    /// @return one conversation of each kind
    public static List<byte[]> peers() {
        ByteBuf batch = message(0, 0, 4).writeBytes(message(1, 0, 9));
        ByteBuf fragments = frame(Frame.Kind.DIRECT, 0, 0, 1500, 1024, 1)
                .writeZero(1024)
                .writeBytes(frame(Frame.Kind.DIRECT, 0, 1024, 1500, 476, 1))
                .writeZero(476);
        ByteBuf cancelled = frame(Frame.Kind.BROADCAST, 0, 0, 1500, 1024, 1)
                .writeZero(1024)
                .writeBytes(frame(Frame.Kind.SKIP, 0, 1500, 1500, 0, 1));
        return List.of(
                bytes(message(0, 0, 4).writeBytes(message(1, 0, 0))),
                bytes(fragments.slice(0, 900)),
                bytes(control(Frame.control(Frame.Kind.BATCH, 0, 0, batch.readableBytes()))
                        .writeBytes(batch)),
                bytes(frame(Frame.Kind.BROADCAST, 0, 0, 4, 4, 0).writeZero(4)),
                bytes(cancelled.slice(0, 900)),
                bytes(frame(Frame.Kind.CONFIRM, 0, 0, 4, 4, 2).writeZero(4)),
                bytes(frame(Frame.Kind.SKIP, 0, 0, 0, 0, 0).writeBytes(message(1, 0, 4))),
                bytes(control(Frame.acknowledgement(0, new long[3], new long[] {WINDOW, WINDOW}, 1))
                        .writeBytes(message(0, 0, 4))),
                bytes(control(Frame.control(Frame.Kind.RETRY, 0, 0, 0))),
                bytes(control(Frame.control(Frame.Kind.RESUME, 0, 0, 0)).writeBytes(message(0, 0, 4))),
                bytes(control(Frame.rejection(0, 0, 0, 3)).writeZero(3)),
                bytes(control(Frame.control(Frame.Kind.BYE, 0, 0, 0))));
    }

    private static ByteBuf message(int sequence, int lane, int length) {
        return frame(Frame.Kind.DIRECT, sequence, 0, length, length, lane).writeZero(length);
    }

    private static ByteBuf frame(Frame.Kind kind, int sequence, long offset, long total, int length, int lane) {
        ByteBuf out = Unpooled.buffer();
        Frame.write(out, kind, 0, TAG, 0, sequence, offset, total, 99, 7, length, lane);
        return out;
    }

    private static ByteBuf control(Frame frame) {
        ByteBuf out = Unpooled.buffer();
        frame.writeTo(out);
        return out;
    }

    private static byte[] bytes(ByteBuf buffer) {
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.getBytes(buffer.readerIndex(), bytes);
        return bytes;
    }
}
