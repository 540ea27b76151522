// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// Frames as they stand on a connection, for those who speak to a node without being one.
final class Wire {

    static final long LIFE = 4711;
    static final long WINDOW = 1 << 20;

    private Wire() {}

    static ByteBuffer header(Frame frame) {
        ByteBuf out = Unpooled.buffer(Frame.BYTES);
        frame.writeTo(out);
        return out.nioBuffer();
    }

    static ByteBuffer frame(Frame.Kind kind, int origin, long sequence, long offset, long total, int length, int lane) {
        ByteBuf out = Unpooled.buffer(Frame.BYTES);
        Frame.write(out, kind, 0, Cluster.TAG, origin, sequence, offset, total, 0, 0, length, lane);
        return out.nioBuffer();
    }

    static ByteBuffer hello(int oldest, int newest, int rank, int nodes, int number, long session, long known) {
        ByteBuf out = Unpooled.buffer(Frame.BYTES + Hello.BYTES);
        Frame.control(Frame.Kind.HELLO, 0, rank, Hello.BYTES).writeTo(out);
        new Hello(
                        oldest,
                        newest,
                        rank,
                        nodes,
                        number,
                        session,
                        known,
                        0,
                        0,
                        0,
                        LIFE,
                        WINDOW,
                        WINDOW,
                        Hello.SIGNED_BROADCASTS)
                .writeTo(out);
        return out.nioBuffer();
    }

    /// So many bytes, zeros behind the end of the connection.
    static ByteBuffer read(SocketChannel channel, int bytes) throws IOException {
        ByteBuffer in = ByteBuffer.allocate(bytes);
        while (in.hasRemaining() && channel.read(in) >= 0) {
            // until all is there
        }
        return in;
    }
}
