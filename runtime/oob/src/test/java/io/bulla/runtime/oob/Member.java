// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.BulkOffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// A member of the job that speaks frames, and keeps to the protocol as far as a test wants it to.
final class Member implements AutoCloseable {

    static final int SESSION = 4242;

    final int rank;
    private final SocketChannel channel;
    private final long[] next = new long[Lane.COUNT];
    private final ByteBuf words = Unpooled.buffer();

    /// @param offer address of a bulk line, or `null`
    Member(int rank, int nodes, InetSocketAddress node, byte[] offer) throws IOException {
        this(rank, nodes, node, offer, 1L << 30);
    }

    /// @param offer address of a bulk line, or `null`
    /// @param limit the longest message that it takes
    Member(int rank, int nodes, InetSocketAddress node, byte[] offer, long limit) throws IOException {
        this.rank = rank;
        this.channel = SocketChannel.open(node);
        byte[] more = offer == null ? new byte[0] : BulkOffer.part(offer);
        Frame.control(Frame.Kind.HELLO, 0, rank, Hello.BYTES + more.length).writeTo(words);
        new Hello(
                        Frame.VERSION,
                        Frame.VERSION,
                        rank,
                        nodes,
                        1,
                        SESSION + rank,
                        0,
                        0,
                        0,
                        0,
                        Wire.LIFE + rank,
                        1L << 40,
                        limit,
                        Hello.SIGNED_BROADCASTS)
                .writeTo(words);
        words.writeBytes(more);
        say();
        ByteBuffer hello = read();
        if (hello.get(5) != Frame.Kind.HELLO.ordinal()) {
            throw new IOException("not a hello: kind=" + hello.get(5));
        }
    }

    /// Says what was written since.
    void say() throws IOException {
        ByteBuffer out = words.nioBuffer();
        while (out.hasRemaining()) {
            channel.write(out);
        }
        words.clear();
    }

    Member control(Frame.Kind kind) {
        Frame.control(kind, 0, rank, 0).writeTo(words);
        return this;
    }

    /// A message, whole.
    Member direct(int tag, int bytes) {
        Frame.write(words, Frame.Kind.DIRECT, 0, tag, rank, next[0]++, 0, bytes, 0, 0, bytes, Lane.SMALL);
        words.writeZero(bytes);
        return this;
    }

    /// The first bytes of a broadcast, or all of it.
    Member broadcast(int origin, long session, long number, int length, int total, int lane) {
        return broadcastFrom(origin, session, number, 0, length, total, lane);
    }

    /// Bytes of a broadcast.
    Member broadcastFrom(int origin, long session, long number, int offset, int length, int total, int lane) {
        long sequence = next[lane];
        Frame.write(
                words,
                Frame.Kind.BROADCAST,
                0,
                Cluster.TAG,
                origin,
                sequence,
                offset,
                total,
                session,
                number,
                length,
                lane);
        words.writeZero(length);
        next[lane] += offset + length == total ? 1 : 0;
        return this;
    }

    Member confirm(int origin, long session, long number, int reached) {
        Frame.write(
                words,
                Frame.Kind.CONFIRM,
                0,
                reached,
                origin,
                next[Lane.CONTROL]++,
                0,
                0,
                session,
                number,
                0,
                Lane.CONTROL);
        return this;
    }

    /// Does not take a message, of which there is no more to say.
    Member reject(int lane, long sequence) {
        Frame.write(words, Frame.Kind.REJECT, 0, Cluster.TAG, rank, sequence, 0, 0, 0, 0, 0, lane);
        return this;
    }

    /// Asks for memory for the next message of the bulk lane.
    Member request(long total) {
        Frame.write(words, Frame.Kind.REQUEST, 0, Cluster.TAG, rank, next[1], 0, total, 0, 0, 0, Lane.BULK);
        return this;
    }

    /// Says that the message has landed there.
    ///
    /// @param session of the origin, if it is a broadcast; else 0
    Member finished(int origin, long session, long total) {
        Frame.write(
                words,
                Frame.Kind.FINISHED,
                0,
                Cluster.TAG,
                origin,
                next[Lane.BULK]++,
                total,
                total,
                session,
                0,
                0,
                Lane.BULK);
        return this;
    }

    Member notice(int topic) {
        Frame.control(Frame.Kind.NOTICE, topic, rank, 0).writeTo(words);
        return this;
    }

    Member acknowledge(long small, long bulk, long control) {
        Frame.acknowledgement(rank, new long[] {small, bulk, control}, new long[] {1L << 40, 1L << 40}, 0)
                .writeTo(words);
        return this;
    }

    /// The next header; its body is passed over.
    ByteBuffer read() throws IOException {
        ByteBuffer header = Wire.read(channel, Frame.BYTES);
        if (header.hasRemaining()) {
            throw new IOException("connection closed");
        }
        Wire.read(channel, header.getInt(56));
        return header;
    }

    /// The next header of a kind.
    ByteBuffer read(Frame.Kind kind) throws IOException {
        ByteBuffer header = read();
        while (header.get(5) != kind.ordinal()) {
            header = read();
        }
        return header;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
