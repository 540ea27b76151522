// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.End;
import io.bulla.fanout.Subscriber;
import io.bulla.fanout.Subscription;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One call, as a fan-out sees it, and what gRPC tells of the call, as its subscription hears it.
final class Outlet implements Subscriber {

    /// A call, with a stub or without.
    private interface Call extends Target<SealedBuffer> {

        boolean isReady();

        void close(Status status);
    }

    private final Call call;
    private final SentStreams unread = new SentStreams();

    // both are guarded by this
    private @Nullable Subscription subscription;
    private boolean over;

    private Outlet(Call call) {
        this.call = call;
    }

    static Outlet of(ServerCallStreamObserver<SealedBuffer> observer) {
        return new Outlet(new Call() {
            @Override
            public boolean isReady() {
                return observer.isReady();
            }

            @Override
            public void send(SealedBuffer message) {
                observer.onNext(message);
            }

            @Override
            public void close(Status status) {
                if (status.isOk()) {
                    observer.onCompleted();
                } else {
                    observer.onError(status.asRuntimeException());
                }
            }
        });
    }

    static Outlet of(ServerCall<?, SealedBuffer> call) {
        return new Outlet(new Call() {
            @Override
            public boolean isReady() {
                return call.isReady();
            }

            @Override
            public void send(SealedBuffer message) {
                call.sendMessage(message);
            }

            @Override
            public void close(Status status) {
                call.close(status, new Metadata());
            }
        });
    }

    /// Subscribes the call, of which gRPC may have told the end already.
    Subscription subscribe(Function<? super Subscriber, Subscription> fanout) {
        Subscription mine = fanout.apply(this);
        boolean late;
        synchronized (this) {
            subscription = mine;
            late = over;
        }
        if (late) {
            mine.leave();
        } else {
            // what gRPC said of it meanwhile
            mine.proceed();
        }
        return mine;
    }

    @Override
    public boolean isReady() {
        return call.isReady();
    }

    @Override
    public void send(SealedBuffer message) {
        unread.add(Sending.send(call, message));
    }

    @Override
    public void close(End why) {
        call.close(status(why));
    }

    private static Status status(End why) {
        return switch (why) {
            case End.Completed done -> Status.OK;
            case End.Closed closed -> Status.UNAVAILABLE.withDescription("broadcast closed");
            case End.TooSlow slow ->
                Status.RESOURCE_EXHAUSTED.withDescription("too slow for the broadcast: queuedMessages=" + slow.queued()
                        + " queuedBytes=" + slow.queuedBytes());
            case End.Failed failed -> Status.fromThrowable(failed.cause());
            case End.Left left -> Status.CANCELLED;
        };
    }

    /// The call may be ready again.
    void onReady() {
        @Nullable Subscription mine;
        synchronized (this) {
            mine = subscription;
        }
        if (mine != null) {
            mine.proceed();
        }
    }

    /// The call is over, and its receiver may have messages to read.
    void onComplete() {
        @Nullable Subscription mine;
        synchronized (this) {
            over = true;
            mine = subscription;
        }
        if (mine != null) {
            mine.leave();
        }
    }

    /// The call is over; a receiver in the same process may have messages that it has not parsed yet.
    void onCancel() {
        try {
            onComplete();
        } finally {
            unread.closeForgotten(new CallTotals());
        }
    }
}
