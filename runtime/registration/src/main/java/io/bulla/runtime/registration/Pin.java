// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.registration;

import io.bulla.pool.device.Access;
import io.bulla.pool.device.Peer;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import org.jspecify.annotations.Nullable;

/// A mark as a lease, so that a ledger of leases lists it: by whom memory is pinned, since when, for
/// which peer.
///
/// open --the device can no longer touch the memory--> closed
final class Pin extends Lease {

    /// What a ledger shows as the holder.
    private record By(
            String device,
            long slab,
            Access access,
            @Nullable Peer peer) {

        @Override
        public String toString() {
            return "pin of " + device + " slab=" + slab + " access=" + access + " peer=" + (peer == null ? "-" : peer);
        }
    }

    private static final class Pinned extends RefCount {

        private final long bytes;

        Pinned(LeaseTrace trace, long bytes) {
            super(trace);
            this.bytes = bytes;
        }

        @Override
        protected void free() {
            // the memory is its slab's
        }

        @Override
        protected long size() {
            return bytes;
        }
    }

    private Pin(RefCount count) {
        super(count);
    }

    /// @return open, and known to the trace
    static Pin open(LeaseTrace trace, String device, Marked of) {
        Pin pin = new Pin(new Pinned(trace, of.length()));
        pin.opened(new By(device, of.slab().id(), of.access(), of.peer()));
        return pin;
    }
}
