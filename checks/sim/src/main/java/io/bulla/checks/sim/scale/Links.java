// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.scale;

import io.bulla.checks.sim.net.Net;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.function.IntToLongFunction;

/// The network between simulated machines: a link each, both ways, to a switch that is never the bottleneck. What
/// is on a link goes in the order in which it was sent; TCP's own behaviour (slow start, loss, pacing) is not in it.
///
/// What is written is not copied: the reader gets the writer's bytes.
final class Links implements Net.Wire {

    private final Costs costs;
    private final IntToLongFunction now;
    private final long[] outFree;
    private final long[] inFree;

    /// @param now when what a machine writes at this moment leaves it
    Links(Costs costs, int machines, IntToLongFunction now) {
        this.costs = costs;
        this.now = now;
        this.outFree = new long[machines];
        this.inFree = new long[machines];
    }

    @Override
    public ByteBuf taken(ByteBuf written, int length) {
        return written.retainedSlice(written.readerIndex(), length);
    }

    @Override
    public ByteBuf arrived(ByteBuf piece, ByteBufAllocator readers) {
        return piece;
    }

    @Override
    public long arrival(int from, int to, int bytes) {
        long taken = costs.link(bytes);
        long leaves = Math.max(now.applyAsLong(from), outFree[from]);
        outFree[from] = leaves + taken;
        // the first byte is there while the last one has not left
        long arrives = Math.max(leaves + costs.latencyNanos(), inFree[to]);
        inFree[to] = arrives + taken;
        return inFree[to];
    }
}
