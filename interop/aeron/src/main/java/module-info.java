// SPDX-License-Identifier: Apache-2.0
/// Sealed buffers on Aeron. Needs `--add-exports java.base/jdk.internal.misc=org.agrona`, as Aeron itself does.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.bulla.interop.aeron {
    requires transitive io.bulla.buffer;
    requires transitive io.bulla.iovec;
    requires io.bulla.interop.agrona;
    // what it lends, and where native access is needed: users of the rest need not have it
    requires static transitive io.bulla.posix;
    requires transitive io.aeron.client;
    requires transitive org.agrona;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.interop.aeron;
}
