// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnsafeByteOperations;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.NoOpenHandles;
import io.grpc.CallOptions;
import io.grpc.Detachable;
import io.grpc.Drainable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(NoOpenHandles.class)
class SealedMarshallerTest {

    private static final Marshaller<BytesValue> PROTOBUF = Feed.ECHO.getResponseMarshaller();

    @AfterAll
    static void nettyLeaksNothing() throws InterruptedException {
        assertEquals(List.of(), LeakRecorder.reports(5));
    }

    @AfterEach
    void everyHandleIsClosed(MemorySource memory) throws InterruptedException {
        BroadcastTest.awaitClosed(memory);
    }

    @Test
    void theBytesAreProtobufsOwn(MemorySource memory) {
        BytesValue message = Feed.message(3, 40_000);
        try (SealedBuffer packed = SealedMarshaller.of(memory).pack(PROTOBUF, message)) {
            assertArrayEquals(message.toByteArray(), packed.toByteArray());
            assertEquals(message, SealedMarshaller.of(memory).unpack(PROTOBUF, packed));
        }
    }

    @Test
    void aStreamKnowsItsLengthDrainsAllRegionsAndClosesItsHandle(MemorySource memory) throws IOException {
        byte[] first = Feed.message(1, 20_000).toByteArray();
        byte[] second = Feed.message(2, 30_000).toByteArray();
        try (SealedBuffer a = sealed(memory, first);
                SealedBuffer b = sealed(memory, second);
                SealedBuffer both = SealedBuffer.concat(a, b)) {
            InputStream stream = SealedMarshaller.of(memory).stream(both);
            assertInstanceOf(KnownLength.class, stream);
            assertEquals(both.byteSize(), stream.available());
            assertEquals(2, both.holders());
            assertEquals(first[0] & 0xff, stream.read());
            assertEquals(1, stream.skip(1));
            stream.mark(0);
            byte[] some = new byte[10];
            assertEquals(10, stream.read(some));
            stream.reset();
            assertEquals(both.byteSize() - 2, stream.available());
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            assertEquals(both.byteSize() - 2, ((Drainable) stream).drainTo(out));
            assertEquals(-1, stream.read());
            assertEquals(-1, stream.read(some));
            assertEquals(0, stream.read(some, 0, 0));
            byte[] all = both.toByteArray();
            assertArrayEquals(java.util.Arrays.copyOfRange(all, 2, all.length), out.toByteArray());
            stream.close();
            stream.close();
            assertEquals(1, both.holders());
        }
    }

    @Test
    void aStreamThatIsClosedReadsNothing(MemorySource memory) throws IOException {
        InputStream stream;
        try (SealedBuffer message = sealed(memory, new byte[100])) {
            stream = SealedMarshaller.of(memory).stream(message);
        }
        assertEquals(0, stream.read());
        stream.close();
        assertThrows(ReleasedBufferException.class, stream::read);
        assertThrows(ReleasedBufferException.class, () -> stream.read(new byte[1]));
        assertThrows(
                ReleasedBufferException.class, () -> ((Drainable) stream).drainTo(OutputStream.nullOutputStream()));
        assertThrows(
                ReleasedBufferException.class, () -> SealedMarshaller.of(memory).parse(stream));
    }

    @Test
    void aSinkThatFailsLeavesTheRestToBeRead(MemorySource memory) throws IOException {
        try (SealedBuffer message = sealed(memory, Feed.message(1, 40_000).toByteArray());
                InputStream stream = SealedMarshaller.of(memory).stream(message)) {
            OutputStream full = new OutputStream() {
                private int left = 20_000;

                @Override
                public void write(int b) throws IOException {
                    throw new IOException("full");
                }

                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    if (length > left) {
                        throw new IOException("full");
                    }
                    left -= length;
                }
            };
            assertThrows(IOException.class, () -> ((Drainable) stream).drainTo(full));
            assertEquals(message.byteSize() - 16 * 1024, stream.available());
        }
    }

    @Test
    void aSinkThatSendsFromInsideItsWriteGetsItsOwnBytes(MemorySource memory) throws IOException {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (SealedBuffer inner = sealed(memory, Feed.message(9, 5_000).toByteArray());
                SealedBuffer outer = sealed(memory, Feed.message(1, 40_000).toByteArray());
                InputStream stream = sealed.stream(outer)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            OutputStream nesting = new OutputStream() {
                @Override
                public void write(int b) {
                    throw new AssertionError("one byte");
                }

                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    try (InputStream another = sealed.stream(inner)) {
                        ((Drainable) another).drainTo(new ByteArrayOutputStream());
                    }
                    out.write(bytes, offset, length);
                }
            };
            ((Drainable) stream).drainTo(nesting);
            assertArrayEquals(outer.toByteArray(), out.toByteArray());
        }
    }

    @Test
    void aCodecOfAnotherKindIsPackedToo(MemorySource memory) {
        Marshaller<byte[]> arrays = new Marshaller<>() {
            @Override
            public InputStream stream(byte[] value) {
                return new ByteArrayInputStream(value);
            }

            @Override
            public byte[] parse(InputStream stream) {
                try {
                    return stream.readAllBytes();
                } catch (IOException failure) {
                    throw new UncheckedIOException(failure);
                }
            }
        };
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (SealedBuffer packed = sealed.pack(arrays, new byte[] {1, 2, 3})) {
            assertArrayEquals(new byte[] {1, 2, 3}, sealed.unpack(arrays, packed));
        }
    }

    @ParameterizedTest
    @EnumSource
    void allKindsOfMethodsCarryMessagesOfAllSizes(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = wire.open(Echo.service(sealed))) {
            for (int size : new int[] {0, 1, 8, 1_000, 16_384, 300_000, 3_000_000}) {
                BytesValue message = Feed.message(size, size);
                assertEquals(message, unary(ends.channel, Feed.ECHO, message));
                assertEquals(List.of(message, message), bidi(ends.channel, message, message));
                assertEquals(message, last(ends.channel, BytesValue.getDefaultInstance(), message));
                sealedAtBothEnds(sealed, ends.channel, message);
            }
        }
        BroadcastTest.await(() -> sealed.figures().pinned() == 0);
    }

    private static void sealedAtBothEnds(SealedMarshaller sealed, ManagedChannel channel, BytesValue message) {
        try (SealedBuffer request = sealed.pack(PROTOBUF, message);
                SealedBuffer response = unary(channel, sealed.requests(sealed.responses(Feed.ECHO)), request)) {
            assertTrue(request.contentEquals(response));
        }
    }

    @Test
    void aMessageStaysInTheTransportsMemoryBeyondItsCallAndItsChannel(MemorySource memory) throws Exception {
        SealedMarshaller server = SealedMarshaller.of(memory);
        SealedMarshaller client = SealedMarshaller.of(memory);
        BytesValue message = Feed.message(5, 300_000);
        SealedBuffer kept;
        try (Wire.Ends ends = Wire.NETTY.open(Echo.service(server))) {
            kept = kept(ends.channel, client, message);
            // gRPC's and Netty's buffers are used again by these
            for (int i = 0; i < 20; i++) {
                unary(ends.channel, Feed.ECHO, Feed.message(i, 300_000));
            }
        }
        assertEquals(1, client.figures().kept());
        assertEquals(1, client.figures().pinned());
        assertTrue(kept.iovec().regionCount() > 1, kept::toString);
        assertArrayEquals(message.toByteArray(), kept.toByteArray());
        SealedBuffer slice = kept.slice(100, 200_000);
        kept.close();
        assertEquals(1, client.figures().pinned());
        slice.close();
        assertEquals(0, client.figures().pinned());
        assertThrows(ReleasedBufferException.class, kept::toByteArray);
        assertThrows(ReleasedBufferException.class, slice::iovec);
    }

    /// Asks again as often as gRPC itself moves the message to the heap: it does if many small pieces come in.
    private static SealedBuffer kept(ManagedChannel channel, SealedMarshaller client, BytesValue message) {
        SealedBuffer response = unary(channel, client.responses(Feed.ECHO), message);
        for (int again = 0; client.figures().kept() == 0 && again < 100; again++) {
            response.close();
            response = unary(channel, client.responses(Feed.ECHO), message);
        }
        return response;
    }

    @Test
    void protobufParsesWhatWasKept(MemorySource memory) throws Exception {
        SealedMarshaller client = SealedMarshaller.of(memory);
        BytesValue message = Feed.message(6, 1_000);
        try (Wire.Ends ends = Wire.NETTY.open(Echo.service(SealedMarshaller.of(memory)));
                SealedBuffer kept = unary(ends.channel, client.responses(Feed.ECHO), message)) {
            ByteString bytes = UnsafeByteOperations.unsafeWrap(kept.iovec().asByteBuffers()[0]);
            CodedInputStream input = bytes.newCodedInput();
            assertEquals(message, BytesValue.parseFrom(input));
            assertEquals(message, client.unpack(PROTOBUF, kept));
        }
    }

    @Test
    void aCompressedMessageIsCopiedOnce(MemorySource memory) throws Exception {
        SealedMarshaller server = SealedMarshaller.of(memory);
        SealedMarshaller client = SealedMarshaller.of(memory);
        BytesValue message = Feed.message(5, 100_000);
        try (Wire.Ends ends = Wire.NETTY.open(Echo.service(server))) {
            MethodDescriptor<SealedBuffer, SealedBuffer> method = client.requests(client.responses(Feed.ECHO));
            try (SealedBuffer request = client.pack(PROTOBUF, message);
                    SealedBuffer response = ClientCalls.blockingUnaryCall(
                            ends.channel, method, CallOptions.DEFAULT.withCompression("gzip"), request)) {
                assertTrue(request.contentEquals(response));
                assertEquals(new MarshallerFigures(0, 0, 1, request.byteSize(), 0), server.figures());
            }
        }
    }

    /// A peer may send an HTTP/2 frame of no bytes inside a message, of which gRPC shows an empty part for ever.
    @Test
    void anEmptyPartOfAMessageIsNoEndOfIt(MemorySource memory) throws IOException {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        Parted stream = new Parted(50, 0, 50);
        try (SealedBuffer message = sealed.parse(stream)) {
            byte[] expected = new byte[100];
            Arrays.fill(expected, 0, 50, (byte) 1);
            Arrays.fill(expected, 50, 100, (byte) 3);
            assertArrayEquals(expected, message.toByteArray());
            assertTrue(stream.closed);
        }
        assertEquals(1, sealed.figures().copied());
        assertEquals(0, sealed.figures().pinned());
    }

    /// As gRPC's stream of a received message: it steps over one part at a time.
    private static final class Parted extends InputStream implements Detachable, KnownLength, HasByteBuffer {

        private final List<ByteBuffer> parts = new ArrayList<>();
        private int at;
        private boolean closed;

        Parted(int... sizes) {
            for (int i = 0; i < sizes.length; i++) {
                ByteBuffer part = ByteBuffer.allocateDirect(sizes[i]);
                while (part.hasRemaining()) {
                    part.put((byte) (i + 1));
                }
                parts.add(part.flip());
            }
        }

        @Override
        public int read() {
            for (; at < parts.size(); at++) {
                if (parts.get(at).hasRemaining()) {
                    return parts.get(at).get();
                }
            }
            return -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            int read = 0;
            for (int one; read < length && (one = read()) >= 0; read++) {
                target[offset + read] = (byte) one;
            }
            return read == 0 && length > 0 ? -1 : read;
        }

        @Override
        public long skip(long bytes) {
            ByteBuffer part = parts.get(at);
            int skipped = (int) Math.min(bytes, part.remaining());
            part.position(part.position() + skipped);
            if (skipped > 0 && !part.hasRemaining()) {
                at++;
            }
            return skipped;
        }

        @Override
        public int available() {
            return parts.stream().mapToInt(ByteBuffer::remaining).sum();
        }

        @Override
        public boolean byteBufferSupported() {
            return true;
        }

        @Override
        public ByteBuffer getByteBuffer() {
            return at < parts.size() ? parts.get(at).slice() : null;
        }

        @Override
        public boolean markSupported() {
            return true;
        }

        @Override
        public void mark(int limit) {}

        @Override
        public void reset() {
            at = 0;
            parts.forEach(ByteBuffer::rewind);
        }

        @Override
        public InputStream detach() {
            return this;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @Test
    void aMessageOfTheSameProcessIsShared(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = Wire.IN_PROCESS.open(Echo.service(sealed));
                SealedBuffer request = sealed.pack(PROTOBUF, Feed.message(1, 1_000));
                SealedBuffer response = unary(ends.channel, sealed.requests(sealed.responses(Feed.ECHO)), request)) {
            assertEquals(
                    request.iovec().region(0).address(),
                    response.iovec().region(0).address());
            assertEquals(new MarshallerFigures(0, 0, 0, 0, 2), sealed.figures());
        }
    }

    @Test
    void aMessageOverTheLimitEndsItsCallAndLeavesNothing(MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = Wire.NETTY.open(Echo.service(sealed), server -> server.maxInboundMessageSize(10_000));
                SealedBuffer request = sealed.pack(PROTOBUF, Feed.message(1, 20_000))) {
            StatusRuntimeException refused = assertThrows(
                    StatusRuntimeException.class,
                    () -> unary(ends.channel, sealed.requests(sealed.responses(Feed.ECHO)), request));
            assertEquals(Status.Code.RESOURCE_EXHAUSTED, refused.getStatus().getCode());
            BroadcastTest.await(() -> request.holders() == 1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_PROCESS", "NETTY"})
    void aMessageThatNoServerAsksForIsClosed(Wire wire, MemorySource memory) throws Exception {
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Wire.Ends ends = wire.open(Echo.service(sealed));
                SealedBuffer request = sealed.pack(PROTOBUF, Feed.message(1, 20_000))) {
            ends.server.shutdownNow().awaitTermination();
            StatusRuntimeException refused = assertThrows(
                    StatusRuntimeException.class,
                    () -> unary(ends.channel, sealed.requests(sealed.responses(Feed.ECHO)), request));
            assertEquals(Status.Code.UNAVAILABLE, refused.getStatus().getCode());
            BroadcastTest.await(() -> request.holders() == 1);
        }
    }

    private static SealedBuffer sealed(MemorySource memory, byte[] bytes) {
        return BufferBuilder.create(memory).put(bytes).seal();
    }

    private static <Q, R> R unary(ManagedChannel channel, MethodDescriptor<Q, R> method, Q request) {
        return ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, request);
    }

    private static List<BytesValue> bidi(ManagedChannel channel, BytesValue... requests) throws Exception {
        Answers answers = new Answers();
        send(
                ClientCalls.asyncBidiStreamingCall(channel.newCall(Feed.ECHO_ALL, CallOptions.DEFAULT), answers),
                requests);
        return answers.all();
    }

    private static BytesValue last(ManagedChannel channel, BytesValue... requests) throws Exception {
        Answers answers = new Answers();
        send(ClientCalls.asyncClientStreamingCall(channel.newCall(Feed.LAST, CallOptions.DEFAULT), answers), requests);
        List<BytesValue> all = answers.all();
        assertFalse(all.isEmpty());
        return all.getFirst();
    }

    private static void send(StreamObserver<BytesValue> observer, BytesValue... requests) {
        for (BytesValue request : requests) {
            observer.onNext(request);
        }
        observer.onCompleted();
    }

    private static final class Answers implements StreamObserver<BytesValue> {

        private final List<BytesValue> received = new ArrayList<>();
        private final CompletableFuture<List<BytesValue>> end = new CompletableFuture<>();

        List<BytesValue> all() throws Exception {
            return end.get(1, TimeUnit.MINUTES);
        }

        @Override
        public void onNext(BytesValue value) {
            received.add(value);
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            end.complete(received);
        }
    }
}
