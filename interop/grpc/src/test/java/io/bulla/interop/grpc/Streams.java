// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import com.google.protobuf.BytesValue;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import io.grpc.Detachable;
import io.grpc.Drainable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/// Streams of gRPC and of a codec each of whose calls may fail, and how many of them are open.
final class Streams {

    /// What gRPC hands out.
    enum Kind {
        PLAIN,
        OF_THIS_PROCESS,
        KEPT,
        KEPT_IN_TWO_PARTS,
        ON_THE_HEAP
    }

    private static final BytesValue MESSAGE = Feed.message(7, 900);

    private final FaultPoints points;
    private final AtomicInteger open = new AtomicInteger();

    Streams(FaultScene scene) {
        this.points = scene.points();
        scene.owed("streams open", open::get);
    }

    Marshaller<BytesValue> codec(boolean drains) {
        return new Marshaller<>() {
            @Override
            public InputStream stream(BytesValue value) {
                points.reach("Marshaller.stream");
                byte[] bytes = value.toByteArray();
                return drains ? new Draining(bytes) : new Faulty(bytes);
            }

            @Override
            public BytesValue parse(InputStream stream) {
                points.reach("Marshaller.parse");
                try {
                    BytesValue parsed = BytesValue.parseFrom(stream);
                    points.reach("Marshaller.parse, done");
                    return parsed;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
    }

    InputStream received(Kind kind, SealedMarshaller sealed, SealedBuffer local) {
        byte[] bytes = MESSAGE.toByteArray();
        return switch (kind) {
            case PLAIN -> new Faulty(bytes);
            case OF_THIS_PROCESS -> sealed.stream(local);
            case KEPT -> new Received(direct(bytes));
            case KEPT_IN_TWO_PARTS ->
                new Received(
                        direct(java.util.Arrays.copyOf(bytes, 300)),
                        direct(java.util.Arrays.copyOfRange(bytes, 300, bytes.length)));
            case ON_THE_HEAP -> new Received(ByteBuffer.wrap(bytes));
        };
    }

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    private class Faulty extends ByteArrayInputStream {

        private boolean closed;

        Faulty(byte[] bytes) {
            super(bytes);
            open.incrementAndGet();
        }

        @Override
        public synchronized int read(byte[] into, int offset, int length) {
            points.reach("InputStream.read");
            return super.read(into, offset, length);
        }

        @Override
        public synchronized int available() {
            points.reach("InputStream.available");
            return super.available();
        }

        @Override
        public void close() throws IOException {
            if (!closed) {
                closed = true;
                open.decrementAndGet();
                points.reachIo("InputStream.close, done");
            }
        }
    }

    private final class Draining extends Faulty implements Drainable {

        private final byte[] bytes;

        Draining(byte[] bytes) {
            super(bytes);
            this.bytes = bytes;
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            points.reachIo("Drainable.drainTo");
            target.write(bytes);
            points.reachIo("Drainable.drainTo, done");
            return bytes.length;
        }
    }

    /// A message in buffers of the transport's, which is given back when it is closed.
    private final class Received extends InputStream implements Detachable, KnownLength, HasByteBuffer {

        private final ByteBuffer[] parts;
        private boolean closed;
        private int marked;

        Received(ByteBuffer... parts) {
            this.parts = parts;
            open.incrementAndGet();
        }

        @Override
        public InputStream detach() {
            points.reach("Detachable.detach");
            Received owned = new Received(parts);
            close();
            return owned;
        }

        @Override
        public int available() {
            points.reach("InputStream.available");
            int left = 0;
            for (ByteBuffer part : parts) {
                left += part.remaining();
            }
            return left;
        }

        private ByteBuffer current() {
            for (ByteBuffer part : parts) {
                if (part.hasRemaining()) {
                    return part;
                }
            }
            return null;
        }

        @Override
        public boolean byteBufferSupported() {
            points.reach("HasByteBuffer.byteBufferSupported");
            return true;
        }

        @Override
        public ByteBuffer getByteBuffer() {
            points.reach("HasByteBuffer.getByteBuffer");
            ByteBuffer part = current();
            return part == null ? null : part.asReadOnlyBuffer();
        }

        @Override
        public long skip(long bytes) {
            points.reach("InputStream.skip");
            ByteBuffer part = current();
            int skipped = part == null ? 0 : (int) Math.min(bytes, part.remaining());
            if (skipped > 0) {
                part.position(part.position() + skipped);
            }
            return skipped;
        }

        @Override
        public int read() {
            ByteBuffer part = current();
            return part == null ? -1 : part.get() & 0xff;
        }

        @Override
        public boolean markSupported() {
            return true;
        }

        @Override
        public void mark(int limit) {
            points.reach("InputStream.mark");
            marked = 1;
        }

        @Override
        public void reset() {
            points.reach("InputStream.reset");
            if (marked == 1) {
                for (ByteBuffer part : parts) {
                    part.rewind();
                }
            }
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                open.decrementAndGet();
            }
        }
    }
}
