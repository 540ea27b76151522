// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.device.Access;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;

/// A mark as a lease, so that a ledger of leases lists it: by whom memory is pinned, since when, for
/// which peer.
///
/// open --the device can no longer touch the memory--> closed
final class Pin extends Lease {

    /// The holder, as a ledger shows it.
    private record By(String device, long slab, Access access, String peer) {

        @Override
        public String toString() {
            return "pin of " + device + " slab=" + slab + " access=" + access + " peer=" + peer;
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
    static Pin open(LeaseTrace trace, String device, long slab, long bytes, Access access, String peer) {
        Pin pin = new Pin(new Pinned(trace, bytes));
        pin.opened(new By(device, slab, access, peer));
        return pin;
    }
}
