// SPDX-License-Identifier: Apache-2.0
/// An immutable value of bytes: the one place where ownership and regions meet.
@SuppressWarnings("requires-automatic")
module io.bulla.buffer {
    requires transitive io.bulla.refcount;
    requires transitive io.bulla.iovec;
    // each used where it is present: memory of the machine, trimming; the flight recorder
    requires static java.management;
    requires static jdk.management;
    requires static jdk.jfr;
    // its interfaces, for BuilderDirectBuffer alone
    requires static org.agrona;

    exports io.bulla.buffer;
}
