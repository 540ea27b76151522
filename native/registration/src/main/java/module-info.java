// SPDX-License-Identifier: Apache-2.0
/// What devices and peers may do with memory, and when it is the program's again.
module io.bulla.registration {
    requires transitive io.bulla.pool;
    // used where it is present: the flight recorder
    requires static jdk.jfr;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.registration;
}
