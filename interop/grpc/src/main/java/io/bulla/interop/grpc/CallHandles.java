// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/// Closes the handles that gRPC forgets when a call ends: an interceptor for channels and for servers.
///
/// ```java
/// CallHandles handles = CallHandles.create();
/// Channel channel = ClientInterceptors.intercept(plain, handles);
/// ServerServiceDefinition service = ServerInterceptors.intercept(definition, handles);
/// ```
///
/// gRPC drops a message and does not close it when
/// - its transport in the same process is given it for a call that has just ended;
/// - it is the one response of a call that ends with an error all the same, or whose future was cancelled;
/// - it is sent past the deadline of its call (gRPC before 1.85).
///
/// Sent: what is still open of a call is closed as the call ends: on a client when the call is closed. On a server
/// that is cancelled a client of the same process may have a message and not have parsed it: it still reads it. What
/// gRPC dropped is closed when the garbage collector finds it; what is sent later is closed at once.
///
/// Sent by a client: besides, the call takes a handle of its own, so that the caller may close theirs as soon as
/// `sendMessage` returns. Without it a message must stay open longer on two kinds of channels: one that still looks
/// for its server, which asks for the message when it has found it, and one that retries, which asks again; see
/// [#keepingForRetries()].
///
/// Received by a client: the one response of a call is handed on when the call is closed with `OK`. If it
/// ends in another way the handle is closed. The messages of a stream are handed on at once, and are their
/// receiver's to close, as are all that a server receives.
///
/// Cancelled by a client: no message comes after `cancel`, and the call ends. gRPC over Netty loses the cancel of a
/// call whose connection has ended while messages wait for a request; that call would keep what it sent.
///
/// What it cannot see: messages that an iterator of a blocking stub has read ahead when the program leaves it, and a
/// future that is cancelled in the moment in which its response is set.
///
/// Any number of calls, channels and servers may share one.
public final class CallHandles implements ClientInterceptor, ServerInterceptor {

    private final boolean again;
    private final CallTotals totals = new CallTotals();

    private CallHandles(boolean again) {
        this.again = again;
    }

    /// For servers, and for channels that do not retry: a message that a client sends is let go when gRPC has copied
    /// it.
    ///
    /// @return an interceptor
    public static CallHandles create() {
        return new CallHandles(false);
    }

    /// For channels that retry, as they do unless `disableRetry()` is said: what a client sends is kept until its
    /// call is over, all of it, since gRPC may ask for it again.
    ///
    /// @return an interceptor
    public static CallHandles keepingForRetries() {
        return new CallHandles(true);
    }

    /// Messages sent that gRPC had forgotten, and that were closed here.
    ///
    /// @return a number that only grows
    public long forgotten() {
        return totals.forgotten.sum();
    }

    /// Messages received that were closed here, since gRPC had no receiver for them any more.
    ///
    /// @return a number that only grows
    public long undelivered() {
        return totals.undelivered.sum();
    }

    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
            MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
        SentMessages sent = new SentMessages(again);
        MethodDescriptor<ReqT, RespT> watched = method.toBuilder(
                        new Watched<>(method.getRequestMarshaller(), sent), method.getResponseMarshaller())
                .build();
        return new ClientHandles<>(next.newCall(watched, options), method.getType(), sent, totals);
    }

    @Override
    public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
            ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
        ServerHandles<ReqT, RespT> handles = new ServerHandles<>(call, totals);
        return handles.listener(next.startCall(handles, headers));
    }

    @Override
    public String toString() {
        return "CallHandles[forgotten=" + forgotten() + " undelivered=" + undelivered() + "]";
    }
}
