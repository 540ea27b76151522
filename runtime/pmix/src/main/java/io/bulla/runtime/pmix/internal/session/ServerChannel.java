// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.pmix.internal.wire.Header;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;

/// The bytes to and from the server. One thread connects and reads, one writes, and any may close.
final class ServerChannel {

    private static final int SKIP_BYTES = 8192;

    private final SocketChannel channel;
    private final boolean hasQuickAck;
    // the reader's
    private final ByteBuffer header = ByteBuffer.allocate(Header.BYTES);

    ServerChannel() throws IOException {
        this.channel = SocketChannel.open();
        this.hasQuickAck = channel.supportedOptions().contains(ExtendedSocketOptions.TCP_QUICKACK);
    }

    void connect(InetSocketAddress address) throws IOException {
        channel.connect(address);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    boolean isConnected() {
        return channel.isConnected();
    }

    void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    void write(Header head, SealedBuffer body) throws IOException {
        ByteBuffer[] views = body.iovec().lent().asByteBuffers();
        ByteBuffer[] all = new ByteBuffer[views.length + 1];
        all[0] = head.bytes();
        System.arraycopy(views, 0, all, 1, views.length);
        for (int first = 0; first < all.length; ) {
            channel.write(all, first, all.length - first);
            while (first < all.length && !all[first].hasRemaining()) {
                first++;
            }
        }
    }

    int readInt() throws IOException {
        readFully(header.clear().limit(Integer.BYTES));
        return header.getInt(0);
    }

    Header readHeader() throws IOException {
        acknowledge();
        readFully(header.clear());
        return Header.read(header);
    }

    /// Acknowledges what was read at once. A server writes each answer for itself, and waits for that with the next
    /// one; TCP puts it off for 40 ms where there is nothing to send. It forgets the option: set it each time.
    private void acknowledge() throws IOException {
        if (hasQuickAck) {
            channel.setOption(ExtendedSocketOptions.TCP_QUICKACK, true);
        }
    }

    /// @return bytes that were read; negative at the end
    int readInto(BufferBuilder builder, long most) throws IOException {
        return builder.readFrom(channel, most);
    }

    void skip(long bytes) throws IOException {
        ByteBuffer scratch = ByteBuffer.allocate((int) Math.min(bytes, SKIP_BYTES));
        for (long left = bytes; left > 0; ) {
            scratch.clear().limit((int) Math.min(left, scratch.capacity()));
            left -= scratch.limit();
            readFully(scratch);
        }
    }

    private void readFully(ByteBuffer target) throws IOException {
        while (target.hasRemaining()) {
            if (channel.read(target) < 0) {
                throw new EOFException("the PMIx server has closed the connection");
            }
        }
    }

    void close() {
        try {
            channel.close();
        } catch (IOException closedAllTheSame) {
            // there is nothing left to do with it
        }
    }
}
