// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.util.LinkedList;
import java.util.Queue;

/// What one peer is served by. Its end ends what this peer has under way, in both directions, and nothing of the
/// others.
public final class FabricEndpoint extends FabricOperation.Origin implements AutoCloseable {

    private final FabricDomain domain;
    private final PeerDomain of;
    private final byte[] name;
    // keys of the peer's writes that have landed, in order; under the domain's monitor
    // links: an add that finds no heap leaves the others
    final Queue<Long> landed = new LinkedList<>();

    FabricEndpoint(FabricDomain domain, PeerDomain of, long address, byte... name) {
        super(address);
        this.domain = domain;
        this.of = of;
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
        return domain.insert(this, peersName);
    }

    /// Writes into a peer's memory. It is over when the fabric says so: not yet when this returns.
    ///
    /// @param peer from [#connect]
    /// @param key of the peer's grant
    /// @param target offset in the grant, or an address with [FabricProvider#byAddress()]
    /// @param bytes native memory that the caller keeps until the write is done
    /// @return to be waited for
    /// @throws FabricException if the endpoint is closed
    public FabricWrite write(long peer, long key, long target, MemorySegment bytes) throws FabricException {
        return domain.begin(this, new FabricWrite(this, peer, key, target, Gather.of(bytes), false), 1);
    }

    /// Writes a buffer into a peer's memory, one region behind the other, nothing copied. It is over when the
    /// fabric says so: not yet when this returns.
    ///
    /// @param peer from [#connect]
    /// @param key of the peer's grant
    /// @param target offset in the grant, or an address with [FabricProvider#byAddress()]
    /// @param buffer may be closed afterwards: it is held until the fabric has let go of it
    /// @return to be waited for
    /// @throws FabricException if the endpoint is closed
    /// @throws IllegalArgumentException if a region is on the heap
    /// @throws IllegalStateException if the buffer is closed
    public FabricWrite write(long peer, long key, long target, SealedBuffer buffer) throws FabricException {
        return write(peer, key, target, buffer, false);
    }

    /// @param tells whether the peer is told by the write itself, with the key, that it has landed. A write of
    ///     several pieces tells nothing: the last one might land on a new connection after an earlier one was lost
    ///     with the old one
    FabricWrite write(long peer, long key, long target, SealedBuffer buffer, boolean tells) throws FabricException {
        Gather bytes = Gather.of(buffer, domain.mostRegions());
        boolean told = tells && domain.carriesNumbers() && bytes.pieces() == 1;
        return domain.begin(this, new FabricWrite(this, peer, key, target, bytes, told), bytes.pieces());
    }

    /// Sends a buffer as a message, from where its regions are. A fabric takes a few regions at once; what is
    /// behind them is copied.
    ///
    /// @param peer from [#connect]
    /// @param buffer may be closed afterwards: it is held until the fabric has let go of it
    /// @return to be waited for
    /// @throws FabricException if the endpoint is closed
    /// @throws IllegalArgumentException if a region is on the heap
    /// @throws IllegalStateException if the buffer is closed
    public FabricSend send(long peer, SealedBuffer buffer) throws FabricException {
        return domain.begin(this, new FabricSend(this, peer, Gather.inOnePiece(buffer, domain.mostRegions())), 1);
    }

    FabricSend send(long peer, MemorySegment bytes) throws FabricException {
        return domain.begin(this, new FabricSend(this, peer, Gather.of(bytes)), 1);
    }

    /// Waits for the peer's next message. Messages meet those that wait in order.
    ///
    /// @param into native memory that the caller keeps until the message is there; one that is longer is an
    ///     error
    /// @return to be waited for
    /// @throws FabricException if the endpoint is closed
    /// @throws IllegalArgumentException if the memory is read-only, on the heap, or freed already
    public FabricReceive receive(MemorySegment into) throws FabricException {
        if (into.isReadOnly() || !into.isNative() || !into.scope().isAlive()) {
            throw new IllegalArgumentException("cannot receive into this: byteSize=" + into.byteSize() + " readOnly="
                    + into.isReadOnly() + " native=" + into.isNative() + " alive="
                    + into.scope().isAlive());
        }
        return domain.begin(this, new FabricReceive(this, into), 1);
    }

    @Override
    Object monitor() {
        return domain;
    }

    @Override
    void progress() throws FabricException {
        domain.progress();
    }

    /// The domain that it belongs to.
    PeerDomain of() {
        return of;
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
