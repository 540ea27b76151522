// SPDX-License-Identifier: Apache-2.0
/// A client of the PMIx server that a launcher runs for its job, without native code.
module io.bulla.runtime.pmix {
    requires transitive io.bulla.pack;
    // TCP_QUICKACK
    requires jdk.net;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.runtime.pmix;
}
