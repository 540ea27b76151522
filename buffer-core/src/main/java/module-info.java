// SPDX-License-Identifier: Apache-2.0
/// An immutable value of bytes: the one place where ownership and regions meet.
@SuppressWarnings("module") // those that an export names are built later
module io.bulla.buffer {
    requires transitive io.bulla.refcount;
    requires transitive io.bulla.iovec;
    // each used where it is present: memory of the machine, trimming; the flight recorder
    requires static java.management;
    requires static jdk.management;
    requires static jdk.jfr;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.buffer;
    exports io.bulla.buffer.internal to
            io.bulla.pack,
            io.bulla.pool,
            io.bulla.interop.agrona,
            io.bulla.posix,
            io.bulla.registration,
            io.bulla.runtime.oob;
}
