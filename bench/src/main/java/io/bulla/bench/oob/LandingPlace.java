// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.pool.SlabSource;

/// Where messages land: `fresh`, in memory that is used once; `pool`, of a [SlabSource]; `reused`, of
/// [ReusingSource].
final class LandingPlace {

    private LandingPlace() {}

    /// @param fresh the default source
    static MemorySource of(String name, MemorySource fresh) {
        return switch (name) {
            case "fresh" -> fresh;
            case "pool" -> SlabSource.builder().budget(MemoryBudget.unlimited()).build();
            case "reused" -> new ReusingSource();
            default -> throw new IllegalArgumentException("no such memory: " + name);
        };
    }
}
