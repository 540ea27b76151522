// SPDX-License-Identifier: Apache-2.0
/// Builders and sealed buffers as Agrona's buffers. Needs no flag.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.bulla.interop.agrona {
    requires transitive io.bulla.buffer;
    requires transitive io.bulla.iovec;
    requires transitive org.agrona;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.interop.agrona;
}
