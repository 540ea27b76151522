// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.device.Peer;
import java.io.Serial;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Memory that a peer may still write to, and that could not be made safe in time. It stays out of use until the
/// device has stopped; this carries other memory in its place.
public final class BufferUnusableException extends Exception {

    @Serial
    private static final long serialVersionUID = 1;

    private final transient @Nullable RemoteWriteTarget replacement;
    private final transient Peer peer;
    private final long key;
    private final long bytes;

    BufferUnusableException(
            Grant left, Duration waited, @Nullable RemoteWriteTarget replacement, @Nullable Throwable noMemory) {
        super(
                "memory is unusable, its device has not stopped: peer=" + left.peer() + " key="
                        + Long.toHexString(left.key()) + " bytes=" + left.byteSize() + " slab="
                        + left.slab().id() + " fence="
                        + left.marks().capabilities().fence() + " waitedMs=" + waited.toMillis() + " replacement="
                        + (replacement == null ? "none" : replacement.byteSize() + " bytes"),
                noMemory);
        this.replacement = replacement;
        this.peer = left.peer();
        this.key = left.key();
        this.bytes = left.byteSize();
    }

    /// Other memory of the same size, without a grant. Closed by who catches this.
    ///
    /// @return empty if there was no memory: the cause says why
    public Optional<RemoteWriteTarget> replacement() {
        return Optional.ofNullable(replacement);
    }

    /// Who may still write.
    ///
    /// @return the first such peer
    public Peer peer() {
        return peer;
    }

    /// By which key.
    ///
    /// @return the peer's
    public long key() {
        return key;
    }

    /// How much.
    ///
    /// @return bytes of that peer's grant
    public long bytes() {
        return bytes;
    }
}
