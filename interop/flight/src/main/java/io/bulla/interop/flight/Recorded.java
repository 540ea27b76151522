// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.grpc.SealedMarshaller;
import io.bulla.refcount.internal.Failures;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A call without a wire: what Flight sends on it is packed and kept. One thread at a time.
final class Recorded<Q, R> extends ServerCall<Q, R> {

    private final MethodDescriptor<Q, R> method;
    private final SealedMarshaller sealed;
    private final List<SealedBuffer> packed = new ArrayList<>(1);
    private @Nullable Throwable failure;

    Recorded(MethodDescriptor<Q, R> method, SealedMarshaller sealed) {
        this.method = method;
        this.sealed = sealed;
    }

    /// Flight closes what it serialized if this throws an exception, and wraps the exception: it is kept instead.
    @Override
    public void sendMessage(R message) {
        try {
            keep(sealed.pack(method.getResponseMarshaller(), message));
        } catch (Throwable refused) {
            failure = refused;
        }
    }

    private void keep(SealedBuffer message) {
        try {
            packed.add(message);
        } catch (Throwable refused) {
            message.close();
            throw refused;
        }
    }

    /// Messages sent since the last time, in order.
    ///
    /// @return handles that the caller closes
    /// @throws RuntimeException as packing one of them did; what was packed is closed
    /// @throws Error likewise
    List<SealedBuffer> take() {
        @Nullable Throwable refused = failure;
        failure = null;
        if (refused != null) {
            drop();
            Failures.rethrow(refused);
        }
        List<SealedBuffer> taken = List.copyOf(packed);
        packed.clear();
        return taken;
    }

    /// Closes what was sent.
    void drop() {
        List<SealedBuffer> dropped = List.copyOf(packed);
        packed.clear();
        Failures.rethrow(Failures.closeAll(dropped, null));
    }

    @Override
    public void close(Status status, Metadata trailers) {
        failure = status.asRuntimeException(trailers);
    }

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public MethodDescriptor<Q, R> getMethodDescriptor() {
        return method;
    }
}
