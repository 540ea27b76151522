// SPDX-License-Identifier: Apache-2.0
/// libfabric as a device. Needs `--enable-native-access=io.bulla.fabric`, and libfabric 1.17.
module io.bulla.fabric {
    requires transitive io.bulla.pool;
    requires transitive io.bulla.registration;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.fabric;
}
