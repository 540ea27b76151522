// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.embedding;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.ListValue;
import io.bulla.bench.embedding.Embedding.Way;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.SealedWrite;
import io.bulla.iovec.IoVec;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import io.vertx.core.eventbus.impl.clustered.ClusteredMessage;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/// A publish on Vert.x's event bus: the frame that its cluster would send to each node, on its own sockets.
final class VertxNodes implements Embedding.Layer {

    private static final int NODES = 50;

    private final Vertx vertx = Vertx.vertx();
    // one that is collected closes its sockets
    private final NetClient client = vertx.createNetClient();
    private final Readers readers = new Readers(NODES);
    private final List<NetSocket> sockets = new ArrayList<>();
    private final Map<String, Way> ways = new LinkedHashMap<>();
    private volatile Throwable failure;

    VertxNodes(ArenaSource memory, ListValue body) throws Exception {
        for (InetSocketAddress address : readers.addresses) {
            NetSocket socket = client.connect(address.getPort(), address.getHostString())
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get();
            sockets.add(socket);
        }
        ClusteredMessage<ListValue, ListValue> message =
                new ClusteredMessage<>("me", "news", null, body, new Protobuf(), false, null);
        ways.put("as-it-is", () -> all(socket -> socket.write(message.encodeToWire())));
        ways.put("buffer-once", () -> {
            Buffer once = message.encodeToWire();
            all(socket -> socket.write(once));
        });
        // through Vert.x's public interface: a codec that appends what is packed already
        ways.put("sealed-codec", () -> {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, body.getSerializedSize())) {
                CodedOutputStream out = CodedOutputStream.newInstance(builder.asOutputStream());
                body.writeTo(out);
                out.flush();
                try (SealedBuffer sealed = builder.seal()) {
                    ClusteredMessage<SealedBuffer, SealedBuffer> packed =
                            new ClusteredMessage<>("me", "news", null, sealed, new Sealed(), false, null);
                    all(socket -> socket.write(packed.encodeToWire()));
                }
            }
        });
        byte[] frame = message.encodeToWire().getBytes();
        int header = frame.length - body.getSerializedSize();
        ways.put("sealed", () -> {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, frame.length)) {
                builder.put(frame, 0, header);
                CodedOutputStream out = CodedOutputStream.newInstance(builder.asOutputStream());
                body.writeTo(out);
                out.flush();
                try (SealedBuffer sealed = builder.seal()) {
                    all(sealed);
                }
            }
        });
        Buffer exists = Buffer.buffer(frame);
        ways.put("buffer-exists", () -> all(socket -> socket.write(exists)));
    }

    private interface Write {
        Future<Void> to(NetSocket socket);
    }

    private void all(Write write) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(sockets.size());
        for (NetSocket socket : sockets) {
            write.to(socket).onComplete(result -> written(result.cause(), done));
        }
        await(done);
    }

    private void all(SealedBuffer sealed) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(sockets.size());
        for (NetSocket socket : sockets) {
            Channel channel = ((NetSocketInternal) socket).channelHandlerContext().channel();
            SealedWrite.share(channel, Unpooled.EMPTY_BUFFER, sealed).addListener(result -> written(result.cause(), done));
        }
        await(done);
    }

    private void written(Throwable cause, CountDownLatch done) {
        if (cause != null) {
            failure = cause;
        }
        done.countDown();
    }

    private void await(CountDownLatch done) throws InterruptedException {
        done.await();
        if (failure != null) {
            throw new IllegalStateException("a write failed", failure);
        }
    }

    @Override
    public Map<String, Way> ways() {
        return ways;
    }

    @Override
    public int receivers() {
        return NODES;
    }

    @Override
    public void close() {
        vertx.close();
        readers.close();
    }

    private static final class Sealed implements MessageCodec<SealedBuffer, SealedBuffer> {

        private final byte[] step = new byte[16 * 1024];

        @Override
        public void encodeToWire(Buffer buffer, SealedBuffer value) {
            IoVec bytes = value.iovec();
            int size = (int) bytes.byteSize();
            buffer.appendInt(size);
            for (int done = 0; done < size; ) {
                int length = Math.min(step.length, size - done);
                bytes.copyTo(done, MemorySegment.ofArray(step), length);
                buffer.appendBytes(step, 0, length);
                done += length;
            }
        }

        @Override
        public SealedBuffer decodeFromWire(int position, Buffer buffer) {
            throw new UnsupportedOperationException("sends only");
        }

        @Override
        public SealedBuffer transform(SealedBuffer value) {
            return value.share();
        }

        @Override
        public String name() {
            return "sealed";
        }

        @Override
        public byte systemCodecID() {
            return -1;
        }
    }

    /// As a user writes it for messages of their own.
    private static final class Protobuf implements MessageCodec<ListValue, ListValue> {

        @Override
        public void encodeToWire(Buffer buffer, ListValue value) {
            buffer.appendInt(value.getSerializedSize()).appendBytes(value.toByteArray());
        }

        @Override
        public ListValue decodeFromWire(int position, Buffer buffer) {
            try {
                return ListValue.parseFrom(
                        buffer.getBytes(position + 4, position + 4 + buffer.getInt(position)));
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        @Override
        public ListValue transform(ListValue value) {
            return value;
        }

        @Override
        public String name() {
            return "protobuf";
        }

        @Override
        public byte systemCodecID() {
            return -1;
        }
    }
}
