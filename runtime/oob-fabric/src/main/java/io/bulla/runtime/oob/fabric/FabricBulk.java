// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import io.bulla.fabric.FabricDomain;
import io.bulla.fabric.FabricException;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// A provider of libfabric as the bulk transport of a node.
///
/// ```
/// FabricBulk bulk = FabricBulk.open("tcp;ofi_rxm", pool, PinBudget.ofProcess(), Duration.ofSeconds(30));
/// OobNode node = OobNode.builder(rank, size) ... .bulk(bulk, 1 << 20).start();
/// ```
///
/// Each line has an endpoint of its own. Its end is the fence of the peer's grants, so that a peer that
/// fails can write no more when the node's listener hears of it. The fabric makes progress on a thread of
/// this one's own, while something is under way.
public final class FabricBulk implements BulkTransport {

    private final FabricDomain domain;
    private final Registrations registrations;
    private final SlabSource memory;
    private final Duration patience;
    private final Progress progress;
    // volatile steps: ids are told apart, nothing hangs on their order
    private final AtomicLong lines = new AtomicLong();

    private FabricBulk(FabricDomain domain, SlabSource memory, PinBudget budget, Duration patience) {
        this.domain = domain;
        this.registrations = Registrations.of(domain, budget);
        this.memory = memory;
        this.patience = patience;
        this.progress = new Progress(domain);
    }

    /// Opens a provider.
    ///
    /// @param provider its name, such as `tcp;ofi_rxm`; the peers' is the same
    /// @param memory where messages land; outlives this
    /// @param budget booked for what peers may write to, if the provider pins it
    /// @param patience how long the fabric may take to write one message
    /// @return without a line yet
    /// @throws IOException if there is no such provider here, or libfabric is another version
    /// @throws UnsupportedOperationException if native access is not enabled
    /// @throws IllegalArgumentException if the patience is not positive
    public static FabricBulk open(String provider, SlabSource memory, PinBudget budget, Duration patience)
            throws IOException {
        Objects.requireNonNull(memory, "memory");
        Objects.requireNonNull(budget, "budget");
        if (!patience.isPositive()) {
            throw new IllegalArgumentException("patience is not positive: patience=" + patience);
        }
        FabricDomain domain = FabricDomain.open(provider);
        boolean opened = false;
        try {
            FabricBulk bulk = new FabricBulk(domain, memory, budget, patience);
            bulk.progress.start();
            opened = true;
            return bulk;
        } finally {
            if (!opened) {
                domain.close();
            }
        }
    }

    @Override
    public BulkLine open(String peer, Consumer<? super IOException> failed) throws IOException {
        // an id of its own: another endpoint for each line
        return FabricLine.open(this, new Peer(lines.incrementAndGet(), peer), failed);
    }

    /// What peers may write to, and who: for reports.
    ///
    /// @return ended with this
    public Registrations registrations() {
        return registrations;
    }

    /// What has gone this way until now.
    ///
    /// @return figures of the time since it was opened
    public BulkFigures figures() {
        return progress.figures();
    }

    FabricDomain domain() {
        return domain;
    }

    SlabSource memory() {
        return memory;
    }

    Duration patience() {
        return patience;
    }

    Progress progress() {
        return progress;
    }

    /// Ends the device. Lines that are open fail.
    ///
    /// @throws IllegalStateException if the fabric refuses; it may be called again
    @Override
    public void close() {
        progress.close();
        registrations.close();
    }

    @Override
    public String toString() {
        return "FabricBulk[" + domain.provider().name() + " " + figures() + "]";
    }

    static IOException asFailure(String what, FabricException refused) {
        return new IOException(what + ": " + refused.getMessage(), refused);
    }
}
