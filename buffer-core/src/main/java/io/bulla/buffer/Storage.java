// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.refcount.internal.Failures;
import org.jspecify.annotations.Nullable;

/// The memory that the last handle of a buffer gives back. Each kind is its own count, so that a buffer has one
/// object for both.
sealed interface Storage {

    /// Gives everything back, all of it even if a part of it throws.
    void free();

    /// Bytes that stay taken until then.
    long size();

    /// Of one sealed region.
    final class One extends RefCount implements Storage {

        private final Region region;

        One(@Nullable LeaseTrace trace, Region region) {
            super(trace);
            this.region = region;
        }

        @Override
        public void free() {
            region.release();
        }

        @Override
        protected boolean heldByLeasesOnly() {
            return true;
        }

        @Override
        public long size() {
            return region.byteSize();
        }
    }

    /// Of several sealed regions.
    final class Many extends RefCount implements Storage {

        private final Region[] regions;

        Many(@Nullable LeaseTrace trace, Region... regions) {
            super(trace);
            this.regions = regions;
        }

        @Override
        public void free() {
            Throwable failure = null;
            for (Region each : regions) {
                failure = Part.release(each, failure);
            }
            Failures.rethrow(failure);
        }

        @Override
        protected boolean heldByLeasesOnly() {
            return true;
        }

        @Override
        public long size() {
            long sum = 0;
            for (Region each : regions) {
                sum += each.byteSize();
            }
            return sum;
        }
    }

    /// Another storage, and an event of the flight recorder that runs until the last close.
    final class Timed extends RefCount implements Storage {

        private final Storage storage;
        private final FlightEvents.LastClose event;

        Timed(@Nullable LeaseTrace trace, Storage storage, FlightEvents.LastClose event) {
            super(trace);
            this.storage = storage;
            this.event = event;
        }

        @Override
        public void free() {
            try {
                event.finish();
            } finally {
                storage.free();
            }
        }

        @Override
        protected boolean heldByLeasesOnly() {
            return true;
        }

        @Override
        public long size() {
            return storage.size();
        }
    }

    /// The handles that a concatenation holds, and what they pin in all.
    final class Joined extends NestedRelease implements Storage {

        private final SealedBuffer[] parts;
        private final long pinned;

        Joined(@Nullable LeaseTrace trace, SealedBuffer... parts) {
            super(trace);
            this.parts = parts;
            long sum = 0;
            for (SealedBuffer part : parts) {
                sum += part.pinned();
            }
            this.pinned = sum;
        }

        @Override
        void giveBack() {
            Failures.rethrow(Storage.closeAll(parts, null));
        }

        @Override
        public long size() {
            return pinned;
        }
    }

    /// Memory that was adopted.
    final class Foreign extends NestedRelease implements Storage {

        private final long byteSize;
        private final Runnable onRelease;

        Foreign(long byteSize, Runnable onRelease) {
            super(null);
            this.byteSize = byteSize;
            this.onRelease = onRelease;
        }

        @Override
        void giveBack() {
            try {
                onRelease.run();
            } finally {
                MemoryBudget.disown(byteSize);
            }
        }

        @Override
        public long size() {
            return byteSize;
        }
    }

    /// Closes every handle, whatever the others throw.
    ///
    /// @param handles some of them may be null
    /// @return the first failure, with the others behind it
    static @Nullable Throwable closeAll(@Nullable SealedBuffer[] handles, @Nullable Throwable before) {
        @Nullable Throwable failure = before;
        for (SealedBuffer each : handles) {
            if (each != null) {
                failure = Failures.close(each, failure);
            }
        }
        return failure;
    }
}
