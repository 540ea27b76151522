// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

import java.lang.foreign.MemorySegment;

/// What one peer is served by. Its end ends what this peer has under way, in both directions, and nothing of the
/// others.
public final class FabricEndpoint implements AutoCloseable {

    private final FabricDomain domain;
    final long address;
    private final byte[] name;
    // under the domain's monitor
    private boolean closed;

    FabricEndpoint(FabricDomain domain, long address, byte... name) {
        this.domain = domain;
        this.address = address;
        this.name = name;
    }

    /// What the peer calls it by: sent to the peer by other means.
    ///
    /// @return bytes of the fabric's own format
    public byte[] name() {
        return name.clone();
    }

    /// Makes a peer's endpoint known.
    ///
    /// @param peersName as its [#name()] says
    /// @return a number to write to
    /// @throws FabricException if the fabric refuses
    public long connect(byte... peersName) throws FabricException {
        return domain.insert(peersName);
    }

    /// Writes into a peer's memory. It is over when the fabric says so: not yet when this returns.
    ///
    /// @param peer from [#connect]
    /// @param key of the peer's grant
    /// @param target offset in the grant, or an address with [FabricProvider#byAddress()]
    /// @param bytes native memory that the caller keeps until the write is done
    /// @return to be waited for
    /// @throws FabricException if the fabric refuses, or the endpoint is closed
    public FabricWrite write(long peer, long key, long target, MemorySegment bytes) throws FabricException {
        return domain.write(this, peer, key, target, bytes);
    }

    boolean isClosed() {
        return closed;
    }

    void closed() {
        closed = true;
    }

    /// Ends it, and all that is under way on it: when this returns no byte of the peer arrives any more. Again
    /// does nothing.
    ///
    /// @throws IllegalStateException if the fabric refuses; it may be called again
    @Override
    public void close() {
        domain.close(this);
    }
}
