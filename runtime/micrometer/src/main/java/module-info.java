// SPDX-License-Identifier: Apache-2.0
/// What Bulla counts, as Micrometer's meters.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.bulla.runtime.micrometer {
    requires transitive io.bulla.buffer;
    requires transitive io.bulla.refcount;
    requires transitive micrometer.core;
    // for PoolMetrics alone
    requires static transitive io.bulla.pool;
    // for OobMetrics alone
    requires static transitive io.bulla.runtime.oob;
    requires static transitive org.jspecify;

    exports io.bulla.runtime.micrometer;
}
