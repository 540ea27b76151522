// SPDX-License-Identifier: Apache-2.0
/// One record batch for many clients of Arrow Flight.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.bulla.interop.flight {
    requires transitive io.bulla.interop.grpc;
    requires transitive org.apache.arrow.flight.core;
    requires transitive org.apache.arrow.memory.core;
    requires transitive org.apache.arrow.vector;
    // of the ticket, as it comes
    requires com.google.protobuf;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.interop.flight;
}
