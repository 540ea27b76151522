// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.buffer.SealedBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// A buffer on its way over a [FabricLink]. It is done when the fabric has said that all bytes are in the peer's
/// memory, and held until the fabric has let go of it. One that fails may have arrived all the same.
public final class LinkSend {

    private final FabricLink link;
    private final long id;
    private final long byteSize;
    // under the link's monitor, as all below
    private @Nullable SealedBuffer held;
    private @Nullable FabricWrite write;
    private boolean cleared;
    private boolean done;
    private @Nullable String refused;

    /// @param held a handle of its own
    LinkSend(FabricLink link, long id, SealedBuffer held) {
        this.link = link;
        this.id = id;
        this.held = held;
        this.byteSize = held.byteSize();
    }

    /// Tells whether it has ended.
    ///
    /// @return false while the peer has not all of it
    public boolean isDone() {
        synchronized (link) {
            return done;
        }
    }

    /// Makes progress until it has ended.
    ///
    /// @param patience how long at most
    /// @throws FabricException if the peer has no room for it, or the link has failed, with the reason
    /// @throws TimeoutException if the time is over; it goes on, until the link is closed
    public void await(Duration patience) throws FabricException, TimeoutException {
        long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(patience);
        while (!isDone()) {
            if (System.nanoTime() - end > 0) {
                throw new TimeoutException("no answer: " + this + " waitedMs=" + patience.toMillis());
            }
            link.progress();
        }
        synchronized (link) {
            if (refused != null) {
                throw new FabricException("rendezvous", 0, refused);
            }
        }
    }

    long id() {
        return id;
    }

    long byteSize() {
        return byteSize;
    }

    /// The peer has memory for it.
    void begin(FabricEndpoint from, long peer, long key, long target) throws FabricException {
        cleared = true;
        SealedBuffer buffer = held;
        if (buffer != null && byteSize > 0) {
            write = from.write(peer, key, target, buffer, true);
        }
    }

    boolean isCleared() {
        return cleared;
    }

    /// @throws FabricException if it was written in vain
    boolean isWritten() throws FabricException {
        FabricWrite begun = write;
        if (begun == null) {
            return cleared;
        }
        if (begun.isDone()) {
            begun.check();
            return true;
        }
        return false;
    }

    /// Whether the write itself tells the peer that it has landed.
    boolean tells() {
        return write != null && write.tells();
    }

    /// @param why it failed; `null` if it did not
    void ended(@Nullable String why) {
        SealedBuffer buffer = held;
        held = null;
        refused = why;
        done = true;
        if (buffer != null) {
            buffer.close();
        }
    }

    @Override
    public String toString() {
        synchronized (link) {
            return "LinkSend[id=" + id + " bytes=" + byteSize
                    + (refused != null ? " " + refused : done ? " done" : cleared ? " is written" : " is asked for")
                    + "]";
        }
    }
}
