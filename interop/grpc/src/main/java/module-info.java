// SPDX-License-Identifier: Apache-2.0
/// One sealed message for many gRPC streams.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.bulla.interop.grpc {
    requires transitive io.bulla.buffer;
    requires transitive io.bulla.fanout;
    requires io.bulla.iovec;
    requires transitive io.grpc;
    requires transitive io.grpc.stub;
    // for ParsedMessage alone
    requires static transitive com.google.protobuf;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.interop.grpc;
}
