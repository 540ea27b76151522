// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// One connection of a hostile member: what it has said so far in each lane, and how often it was confirmed.
final class SiegeTalk implements AutoCloseable {

    private static final int PATIENCE_MILLIS = 60_000;
    private static final int AT_ONCE = 32 << 10;
    private static final long WINDOW = 1L << 40;
    private static final AtomicLong SESSIONS = new AtomicLong(1000);

    final int rank;
    final long session = SESSIONS.incrementAndGet();
    final long[] next = new long[Lane.COUNT];
    private final Socket socket;
    private final ByteBuf out = Unpooled.buffer(2 * AT_ONCE);
    private final AtomicLong confirmed = new AtomicLong();
    private final CountDownLatch told = new CountDownLatch(1);
    // of the node's first broadcast; read behind the latch
    long broadcastSession;
    long broadcastNumber;
    private volatile boolean over;
    private Thread reader;

    SiegeTalk(InetSocketAddress node, int rank) throws IOException {
        this.rank = rank;
        this.socket = new Socket(node.getAddress(), node.getPort());
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
    }

    /// Says who it is, and waits for the answer; from then on what the node says is read and dropped.
    SiegeTalk greet(int nodes) throws IOException {
        Frame.control(Frame.Kind.HELLO, 0, rank, Hello.BYTES).writeTo(out);
        new Hello(Frame.VERSION, Frame.VERSION, rank, nodes, 1, session, 0, 0, 0, 0, session, WINDOW, WINDOW, 0)
                .writeTo(out);
        flush();
        InputStream in = socket.getInputStream();
        frame(in);
        reader = Thread.ofPlatform().daemon().name("siege-reader").start(() -> drain(in));
        return this;
    }

    private void drain(InputStream in) {
        try {
            while (frame(in)) {
                // whatever it says
            }
        } catch (IOException ended) {
            // by a reset
        }
        over = true;
    }

    private boolean frame(InputStream in) throws IOException {
        byte[] header = in.readNBytes(Frame.BYTES);
        if (header.length < Frame.BYTES) {
            return false;
        }
        if (header[5] == Frame.Kind.CONFIRM.ordinal()) {
            confirmed.incrementAndGet();
        }
        if (header[5] == Frame.Kind.BROADCAST.ordinal() && told.getCount() > 0) {
            broadcastSession = ByteBuffer.wrap(header).getLong(40);
            broadcastNumber = ByteBuffer.wrap(header).getLong(48);
            told.countDown();
        }
        in.skipNBytes(ByteBuffer.wrap(header).getInt(56));
        return true;
    }

    void awaitBroadcast() throws InterruptedException {
        if (!told.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("no broadcast of the node's");
        }
    }

    boolean isOver() {
        return over;
    }

    /// A frame of this member's without a body.
    void control(Frame.Kind kind, int tag) throws IOException {
        write(Frame.control(kind, tag, rank, 0), 0);
    }

    /// A frame of a lane, the next one, without bytes.
    void sequenced(Frame.Kind kind, int tag, int origin, long session, long number, int lane) throws IOException {
        ByteBuf header = out;
        Frame.write(header, kind, 0, tag, origin, next[lane]++, 0, 0, session, number, 0, lane);
        flushIfMuch();
    }

    void write(Frame frame, int zeros) throws IOException {
        frame.writeTo(out);
        out.writeZero(zeros);
        flushIfMuch();
    }

    /// What has come of the node's is taken, and it may send on.
    void acknowledge() throws IOException {
        long[] expected = {0, 0, confirmed.get()};
        write(Frame.acknowledgement(rank, expected, new long[] {WINDOW, WINDOW}, 0), 0);
    }

    private void flushIfMuch() throws IOException {
        if (out.readableBytes() >= AT_ONCE) {
            flush();
        }
    }

    void flush() throws IOException {
        out.readBytes(socket.getOutputStream(), out.readableBytes());
        out.clear();
    }

    /// Waits until the node ends it.
    void awaitEnd() throws IOException {
        try {
            flush();
            if (reader == null) {
                drain(socket.getInputStream());
            } else {
                reader.join(PATIENCE_MILLIS);
            }
        } catch (IOException reset) {
            over = true;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        if (!over) {
            throw new IOException("the node does not end the connection");
        }
    }

    @Override
    public void close() throws IOException {
        // no port of it is left waiting
        socket.setSoLinger(true, 0);
        socket.close();
        try {
            if (reader != null) {
                reader.join(PATIENCE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
