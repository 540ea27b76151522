// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

import static io.bulla.interop.fabric.Libfabric.word;

import io.bulla.pool.device.Mark;
import io.bulla.pool.device.Peer;
import java.lang.foreign.MemorySegment;

/// Memory that one peer may write to. Under the monitor of its [FabricDomain].
///
/// made --open--> known to the fabric --close--> closed
final class Region implements Mark {

    private static final long REMOTE_WRITE = 0x2000;

    private final FabricDomain domain;
    private final PeerDomain of;
    private final Peer peer;
    // 0 unless the fabric knows it
    private long object;
    private long key;
    private int place;

    Region(FabricDomain domain, PeerDomain of, Peer peer) {
        this.domain = domain;
        this.of = of;
        this.peer = peer;
    }

    /// @param out room for an object
    void open(long address, long length, long wantedKey, MemorySegment out) throws FabricException {
        object = of.register(address, length, REMOTE_WRITE, wantedKey, out);
        key = word(object + 32);
    }

    /// @throws IllegalStateException if the fabric refuses; nothing has changed then
    void close() {
        of.unregister(object);
        object = 0;
    }

    boolean isClosed() {
        return object == 0;
    }

    FabricDomain domain() {
        return domain;
    }

    /// What its peer has.
    PeerDomain of() {
        return of;
    }

    /// Where it is in the domain's list.
    int place() {
        return place;
    }

    void place(int now) {
        place = now;
    }

    @Override
    public long key() {
        return key;
    }

    @Override
    public String toString() {
        return "Region[key=" + Long.toHexString(key) + " peer=" + peer + "]";
    }
}
