// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.buffer.MemorySource;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Where the frames of one connection land: messages in the node's source, and beside it what is small, is not
/// kept and has to be read also when the source has nothing left: hellos, refusals, and confirmations, which give
/// memory back.
final class LandingMemory implements MemorySource {

    private record Beside(MemorySegment segment) implements Region {

        @Override
        public void release() {
            // the collector's
        }
    }

    private final MemorySource source;
    private final BooleanSupplier isMessage;

    /// @param isMessage whether what lands next is a message
    LandingMemory(MemorySource source, BooleanSupplier isMessage) {
        this.source = source;
        this.isMessage = isMessage;
    }

    @Override
    public Region allocate(long byteSize) {
        return isMessage.getAsBoolean()
                ? source.allocate(byteSize)
                : new Beside(Arena.ofAuto().allocate(byteSize));
    }

    @Override
    public @Nullable Region grow(Region region, long byteSize) {
        return region instanceof Beside ? null : source.grow(region, byteSize);
    }

    @Override
    public MemorySegment seal(Region region, long used) {
        return region instanceof Beside ? MemorySource.super.seal(region, used) : source.seal(region, used);
    }

    @Override
    public @Nullable LeaseTrace trace() {
        return source.trace();
    }
}
