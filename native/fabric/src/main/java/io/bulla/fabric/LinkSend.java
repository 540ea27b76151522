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
    private @Nullable LinkMessage clear;
    private @Nullable FabricWrite write;
    // while a listener of the buffer may call back
    private boolean begins;
    private boolean done;
    private @Nullable String refused;

    /// @param held a handle of its own
    LinkSend(FabricLink link, SealedBuffer held, long id) {
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
    ///
    /// @param said with its key and its place
    void clear(LinkMessage said) {
        clear = said;
    }

    boolean isCleared() {
        return clear != null;
    }

    /// Begins the write, if there is memory for it: again after what a listener of the buffer threw.
    ///
    /// @param from where it is written
    /// @param peer where to
    /// @return whether all of it is there
    /// @throws FabricException if it was written in vain
    boolean isWritten(FabricEndpoint from, long peer) throws FabricException {
        LinkMessage to = clear;
        SealedBuffer buffer = held;
        if (to == null || buffer == null) {
            return false;
        }
        if (byteSize == 0) {
            return true;
        }
        FabricWrite begun = write;
        if (begun == null) {
            if (begins) {
                return false;
            }
            begins = true;
            try {
                begun = from.write(peer, to.first(), to.second(), buffer, true);
                write = begun;
            } finally {
                begins = false;
            }
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
                    + (refused != null
                            ? " " + refused
                            : done ? " done" : clear != null ? " is written" : " is asked for")
                    + "]";
        }
    }
}
