// SPDX-License-Identifier: Apache-2.0
/// Nodes that find each other through the PMIx server of their launcher.
module io.bulla.runtime.oob.pmix {
    requires transitive io.bulla.runtime.oob;
    requires transitive io.bulla.runtime.pmix;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.runtime.oob.pmix;
}
