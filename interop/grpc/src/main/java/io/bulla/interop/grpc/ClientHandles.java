// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.grpc.ClientCall;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/// A client's call that keeps what it sends as long as gRPC may need it, and its one response until it is known that
/// there is a receiver.
final class ClientHandles<ReqT, RespT> extends SimpleForwardingClientCall<ReqT, RespT> {

    private final MethodType type;
    private final SentMessages sent;
    private final CallTotals totals;

    // both guarded by this
    private boolean started;
    private boolean cancelled;

    ClientHandles(ClientCall<ReqT, RespT> call, MethodType type, SentMessages sent, CallTotals totals) {
        super(call);
        this.type = type;
        this.sent = sent;
        this.totals = totals;
    }

    @Override
    public void start(Listener<RespT> listener, Metadata headers) {
        super.start(new Responses(listener), headers);
        synchronized (this) {
            started = true;
        }
    }

    @Override
    public void sendMessage(ReqT message) {
        if (!(message instanceof SealedBuffer handle)) {
            super.sendMessage(message);
            return;
        }
        SealedBuffer own = handle.share();
        if (sent.keep(own)) {
            @SuppressWarnings("unchecked") // as `message` is
            ReqT same = (ReqT) own;
            try {
                super.sendMessage(same);
            } catch (Throwable refused) {
                // a call that was never started has no end
                sent.drop(own);
                throw refused;
            }
        }
    }

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {
        boolean toEnd;
        synchronized (this) {
            cancelled = true;
            toEnd = started;
        }
        super.cancel(message, cause);
        if (toEnd) {
            // gRPC loses the cancel of a call whose connection has ended while messages wait for a request: such a
            // call ends when they are asked for, and the receiver gets none of them
            super.request(Integer.MAX_VALUE);
        }
    }

    private synchronized boolean isCancelled() {
        return cancelled;
    }

    /// gRPC calls it from one thread at a time.
    private final class Responses extends SimpleForwardingClientCallListener<RespT> {

        private @Nullable RespT held;

        Responses(Listener<RespT> receiver) {
            super(receiver);
        }

        @Override
        public void onMessage(RespT message) {
            if (!(message instanceof SealedBuffer handle)) {
                if (!isCancelled()) {
                    super.onMessage(message);
                }
            } else if (isCancelled()) {
                totals.closeUndelivered(handle);
            } else if (!type.serverSendsOneMessage()) {
                super.onMessage(message);
            } else if (held == null) {
                held = message;
            } else {
                totals.closeUndelivered(handle);
                // gRPC cancels the call
                throw Status.INTERNAL
                        .withDescription("more than one response of a call that has one")
                        .asRuntimeException();
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            Status last = status;
            try {
                try {
                    totals.forgot(sent.close());
                } finally {
                    // also if a listener of handles threw: the response is someone's
                    last = deliver(status);
                }
            } catch (RuntimeException | Error failure) {
                // as gRPC does when a receiver fails
                last = Status.CANCELLED
                        .withDescription("Failed to read message.")
                        .withCause(failure);
                if (failure instanceof Error error) {
                    throw error;
                }
            } finally {
                super.onClose(last, trailers);
            }
        }

        private Status deliver(Status status) {
            @Nullable RespT response = held;
            held = null;
            if (response == null) {
                return status;
            }
            if (status.isOk() && !isCancelled()) {
                super.onMessage(response);
                return status;
            }
            totals.closeUndelivered((SealedBuffer) response);
            return status.isOk() ? Status.CANCELLED.withDescription("cancelled by the client") : status;
        }
    }
}
