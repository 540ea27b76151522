// SPDX-License-Identifier: Apache-2.0
/// Memory that is used again, without a reader ever seeing what is another buffer's.
module io.bulla.pool {
    requires transitive io.bulla.buffer;
    // used where it is present: the flight recorder
    requires static jdk.jfr;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.pool;
    exports io.bulla.pool.device;
}
