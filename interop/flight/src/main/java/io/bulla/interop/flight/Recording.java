// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.grpc.SealedMarshaller;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;
import org.apache.arrow.flight.FlightConstants;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.FlightProducer.CallContext;
import org.apache.arrow.flight.FlightProducer.ServerStreamListener;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.flight.auth.ServerAuthHandler;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.jspecify.annotations.Nullable;

/// A `DoGet` that Flight serves without a wire: what its stream writes is packed. One thread at a time.
///
/// Flight shows neither its messages nor their marshaller; a service of its own, and a call of ours, are how its
/// bytes can be had.
final class Recording extends NoOpFlightProducer {

    static final String DO_GET = MethodDescriptor.generateFullMethodName(FlightConstants.SERVICE, "DoGet");

    private final Recorded<?, ?> call;
    // set while the constructor runs the call
    private @Nullable ServerStreamListener stream;

    @SuppressWarnings("deprecation") // the service asks for one, and nothing shakes hands here
    Recording(BufferAllocator allocator, SealedMarshaller sealed) {
        ServerMethodDefinition<?, ?> doGet = Objects.requireNonNull(
                FlightGrpcUtils.createFlightService(allocator, this, ServerAuthHandler.NO_OP, null)
                        .bindService()
                        .getMethod(DO_GET));
        call = called(doGet, sealed);
    }

    private static <Q, R> Recorded<Q, R> called(ServerMethodDefinition<Q, R> method, SealedMarshaller sealed) {
        Recorded<Q, R> call = new Recorded<>(method.getMethodDescriptor(), sealed);
        ServerCall.Listener<Q> listener = method.getServerCallHandler().startCall(call, new Metadata());
        listener.onMessage(method.getMethodDescriptor().parseRequest(InputStream.nullInputStream()));
        listener.onHalfClose();
        return call;
    }

    @Override
    public void getStream(CallContext context, Ticket ticket, ServerStreamListener listener) {
        stream = listener;
    }

    /// @return handles on the schema's message and the dictionaries', that the caller closes
    List<SealedBuffer> start(VectorSchemaRoot root, @Nullable DictionaryProvider dictionaries, IpcOption option) {
        try {
            stream().start(root, dictionaries, option);
            return call.take();
        } catch (Throwable failure) {
            call.drop();
            throw failure;
        }
    }

    /// @param metadata taken over; or `null`
    /// @return a handle that the caller closes
    SealedBuffer next(@Nullable ArrowBuf metadata) {
        try {
            stream().putNext(metadata);
            return call.take().getFirst();
        } catch (Throwable failure) {
            call.drop();
            throw failure;
        }
    }

    private ServerStreamListener stream() {
        return Objects.requireNonNull(stream, "Flight started no stream");
    }
}
