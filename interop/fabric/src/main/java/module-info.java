// SPDX-License-Identifier: Apache-2.0
/// libfabric as a device. Needs `--enable-native-access=io.bulla.interop.fabric`, and libfabric 1.17.
module io.bulla.interop.fabric {
    requires transitive io.bulla.pool;
    requires transitive io.bulla.runtime.registration;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.interop.fabric;
}
