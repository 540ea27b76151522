// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;

/// The package's own calls that the simulator needs.
public final class SimulatedNode {

    private SimulatedNode() {}

    /// Starts a node that takes time, randomness and threads from the simulator.
    public static CompletableFuture<OobNode> start(
            OobNodeBuilder builder, LongSupplier clock, LongSupplier random, ThreadFactory threads) throws IOException {
        return builder.surroundings(new Surroundings(clock, random, threads)).starting();
    }

    /// Binds for a node whose rank is not known yet.
    public static CompletableFuture<BoundNode> bind(
            OobNodeBuilder builder, LongSupplier clock, LongSupplier random, ThreadFactory threads) throws IOException {
        return builder.surroundings(new Surroundings(clock, random, threads)).binding();
    }
}
