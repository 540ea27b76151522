// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.ServerCall;

/// A server's call that closes what gRPC forgot of its responses.
final class ServerHandles<ReqT, RespT> extends SimpleForwardingServerCall<ReqT, RespT> {

    private final Target<RespT> target;
    private final SentStreams sent = new SentStreams();
    private final CallTotals totals;

    ServerHandles(ServerCall<ReqT, RespT> call, CallTotals totals) {
        super(call);
        this.target = call::sendMessage;
        this.totals = totals;
    }

    ServerCall.Listener<ReqT> listener(ServerCall.Listener<ReqT> service) {
        return new SimpleForwardingServerCallListener<>(service) {
            @Override
            public void onCancel() {
                try {
                    sent.closeForgotten(totals);
                } finally {
                    super.onCancel();
                }
            }
        };
    }

    @Override
    public void sendMessage(RespT message) {
        if (!sent.add(Sending.send(target, message))) {
            totals.forgot(1);
        }
    }
}
