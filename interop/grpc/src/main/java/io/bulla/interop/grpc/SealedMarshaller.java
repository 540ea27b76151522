// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.grpc.Drainable;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Sealed buffers as the messages of a gRPC method, byte for byte what its own marshaller would write.
///
/// ```java
/// SealedMarshaller sealed = SealedMarshaller.of(memory);
/// MethodDescriptor<Topic, SealedBuffer> feed = sealed.responses(FeedGrpc.getSubscribeMethod());
/// try (SealedBuffer news = sealed.pack(FeedGrpc.getSubscribeMethod().getResponseMarshaller(), message)) {
///     observer.onNext(news); // as often, and to as many, as you like
/// }
/// ```
///
/// Out
/// - A stream that gRPC gets has a handle of its own, which is closed when gRPC closes the stream: after the copy
///   into its buffer, or as the call is cancelled, or past its deadline, or as its channel is closed. The caller's
///   handle stays the caller's and may be closed as soon as the send returns.
/// - A channel that still looks for its server asks for the message later, and one that retries asks again, perhaps
///   after the send returned. There a message has to stay open until its call is over, or [CallHandles] keeps it.
/// - gRPC's transport in the same process forgets a message that is sent while the call ends. [Broadcast] closes it,
///   and [CallHandles] does for other sends.
///
/// In
/// - A message that lies in direct memory of the transport (Netty's) is kept there, without a copy: the handle is the
///   lifetime that gRPC's buffers lack. It pins the transport's buffers that the message lies in, which may be more
///   than the message; see [SealedBuffer#compact]. After the last close they are the transport's again: see
///   "what is not refused" in the page on misuse.
/// - Any other message (compressed, or on the heap) is copied once into the source's memory.
/// - One that was sent in the same process is shared: no byte moves.
///
/// In each case the receiver closes the handle. [#figures()] counts all three.
///
/// Any number of threads may use one marshaller at once.
public final class SealedMarshaller implements MethodDescriptor.Marshaller<SealedBuffer> {

    private final MemorySource source;
    private final Landing landing;

    private SealedMarshaller(MemorySource source) {
        this.source = source;
        this.landing = new Landing(source);
    }

    /// A marshaller.
    ///
    /// @param source where packed messages, and received ones that need a copy, get their memory
    /// @return a marshaller for any number of methods
    public static SealedMarshaller of(MemorySource source) {
        return new SealedMarshaller(Objects.requireNonNull(source, "source"));
    }

    /// The method, with sealed buffers as its responses.
    ///
    /// @param method of a generated class, for example
    /// @param <ReqT> of the requests, which stay what they are
    /// @return a descriptor of the same name and type
    public <ReqT> MethodDescriptor<ReqT, SealedBuffer> responses(MethodDescriptor<ReqT, ?> method) {
        return method.toBuilder(method.getRequestMarshaller(), this).build();
    }

    /// The method, with sealed buffers as its requests.
    ///
    /// @param method of a generated class, for example
    /// @param <RespT> of the responses, which stay what they are
    /// @return a descriptor of the same name and type
    public <RespT> MethodDescriptor<SealedBuffer, RespT> requests(MethodDescriptor<?, RespT> method) {
        return method.toBuilder(this, method.getResponseMarshaller()).build();
    }

    /// Writes a value by another marshaller, once, and seals it.
    ///
    /// @param codec the method's own marshaller, such as protobuf's
    /// @param value what is sent
    /// @param <T> of the value
    /// @return the first handle on the message
    /// @throws UncheckedIOException if the codec's stream fails
    /// @throws IllegalStateException if the source has no more memory
    public <T> SealedBuffer pack(MethodDescriptor.Marshaller<T> codec, T value) {
        @Nullable SealedBuffer packed = null;
        try {
            try (InputStream stream = codec.stream(value)) {
                packed = packed(stream);
            }
            SealedBuffer whole = packed;
            packed = null;
            return whole;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } finally {
            if (packed != null) {
                // the stream's close failed
                packed.close();
            }
        }
    }

    private SealedBuffer packed(InputStream stream) throws IOException {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, stream.available()))) {
            if (stream instanceof Drainable drainable) {
                drainable.drainTo(builder.asOutputStream());
            } else {
                Landing.fill(builder, stream);
            }
            return builder.seal();
        }
    }

    /// Reads a value by another marshaller.
    ///
    /// @param codec the method's own marshaller, such as protobuf's; it copies what it keeps
    /// @param message an open handle, which stays open
    /// @param <T> of the value
    /// @return the value, which needs the message no more
    /// @throws io.bulla.buffer.ReleasedBufferException if `message` is closed
    public <T> T unpack(MethodDescriptor.Marshaller<T> codec, SealedBuffer message) {
        try (SealedStream stream = open(message)) {
            return codec.parse(stream);
        }
    }

    /// Called by gRPC for each send.
    ///
    /// @param message an open handle, which stays open
    /// @return a stream with a handle of its own
    /// @throws io.bulla.buffer.ReleasedBufferException if `message` is closed
    /// @throws io.grpc.StatusRuntimeException `RESOURCE_EXHAUSTED` if the message is over 2 GiB
    @Override
    public InputStream stream(SealedBuffer message) {
        // first: it may have to be made, and find no heap
        Sending sending = Sending.mine();
        SealedStream stream = open(message);
        sending.opened(stream);
        return stream;
    }

    private static SealedStream open(SealedBuffer message) {
        long size = message.byteSize();
        if (size > Integer.MAX_VALUE) {
            throw Status.RESOURCE_EXHAUSTED
                    .withDescription("more bytes than a gRPC message holds: byteSize=" + size)
                    .asRuntimeException();
        }
        SealedBuffer own = message.share();
        try {
            return new SealedStream(own, (int) size);
        } catch (Throwable failure) {
            own.close();
            throw failure;
        }
    }

    /// Called by gRPC for each message received.
    ///
    /// @param stream gRPC's, which closes it
    /// @return a handle that the receiver closes
    /// @throws UncheckedIOException if the stream fails, as one of a damaged compressed message does
    /// @throws IllegalStateException if the source has no more memory for a copy
    @Override
    public SealedBuffer parse(InputStream stream) {
        try {
            return landing.land(stream);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Figures of the messages received.
    ///
    /// @return a snapshot, exact when no message is being received
    public MarshallerFigures figures() {
        return landing.figures();
    }

    @Override
    public String toString() {
        return "SealedMarshaller[" + figures() + "]";
    }
}
