// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/// A write into a peer's memory, until the fabric has said how it ended. The local memory stays the fabric's
/// until then: the caller holds it.
public final class FabricWrite {

    private final FabricDomain domain;
    private final FabricEndpoint from;
    private final long peer;
    private final long key;
    private final long target;
    // reachable until it is done
    private final MemorySegment bytes;
    private final long id;
    // under the domain's monitor
    private boolean done;
    private int error;

    FabricWrite(
            FabricDomain domain, FabricEndpoint from, long peer, long key, long target, MemorySegment bytes, long id) {
        this.domain = domain;
        this.from = from;
        this.peer = peer;
        this.key = key;
        this.target = target;
        this.bytes = bytes;
        this.id = id;
    }

    /// Tells whether the fabric has said how it ended.
    ///
    /// @return false while it has not
    public boolean isDone() {
        synchronized (domain) {
            return done;
        }
    }

    /// Makes progress until it has ended. Some fabrics never say so of a write by a key that was revoked.
    ///
    /// @param patience how long at most
    /// @throws FabricException with libfabric's error: the peer has revoked the key, or is gone
    /// @throws TimeoutException if the time is over. The fabric may still read the local memory: closing the
    ///     endpoint ends that
    public void await(Duration patience) throws FabricException, TimeoutException {
        long end = System.nanoTime() + patience.toNanos();
        while (!isDone()) {
            if (System.nanoTime() - end > 0) {
                throw new TimeoutException(
                        "write has no answer: bytes=" + bytes.byteSize() + " waitedMs=" + patience.toMillis());
            }
            domain.progress();
        }
        if (error != 0) {
            throw Libfabric.failed("fi_write", error, "bytes=" + bytes.byteSize());
        }
    }

    FabricEndpoint from() {
        return from;
    }

    long peer() {
        return peer;
    }

    long key() {
        return key;
    }

    long target() {
        return target;
    }

    MemorySegment bytes() {
        return bytes;
    }

    long id() {
        return id;
    }

    void ended(int with) {
        done = true;
        error = with;
    }

    @Override
    public String toString() {
        return "FabricWrite[id=" + id + " bytes=" + bytes.byteSize() + (isDone() ? " error=" + error : " waits") + "]";
    }
}
