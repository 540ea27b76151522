// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.testkit.needs.Piece;
import java.util.List;

/// What libfabric has on this machine; a test is skipped by name where it has not what the test needs.
final class Providers {

    private Providers() {}

    static List<FabricProvider> all() {
        try {
            List<FabricProvider> all = FabricProvider.all();
            Piece.LIBFABRIC.orSkip(all.isEmpty() ? "no provider that is known" : null);
            return all;
        } catch (FabricException none) {
            Piece.LIBFABRIC.orSkip(none);
            throw new AssertionError(none);
        }
    }

    static void need(String name) {
        boolean there = all().stream().anyMatch(each -> each.name().equals(name));
        Piece.LIBFABRIC.orSkip(there ? null : "no such provider: name=" + name);
    }
}
