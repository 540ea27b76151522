// SPDX-License-Identifier: Apache-2.0
/// Long messages of nodes, carried by libfabric beside their connections. Needs
/// `--enable-native-access=io.bulla.fabric`, and libfabric 1.17.
module io.bulla.runtime.oob.fabric {
    requires transitive io.bulla.runtime.oob;
    requires transitive io.bulla.fabric;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.runtime.oob.fabric;
}
