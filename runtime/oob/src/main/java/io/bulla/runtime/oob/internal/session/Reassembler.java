// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The arrivals of one lane from one peer: drops messages that arrived before, and puts fragments together.
///
/// One event loop's.
public final class Reassembler {

    private final List<SealedBuffer> parts = new ArrayList<>();
    private long expected;
    private long landed;
    private @Nullable Frame first;
    private long duplicates;

    /// Whether a frame is the first of the next message.
    public boolean isFirst(Frame frame) {
        return frame.sequence() == expected && first == null && landed == 0 && frame.offset() == 0;
    }

    /// Sequence of the next message that is not whole yet.
    public long expected() {
        return expected;
    }

    /// Bytes of the message that is arriving.
    public long landed() {
        return landed;
    }

    /// Messages that arrived again.
    long duplicates() {
        return duplicates;
    }

    /// Whether a frame belongs to a message that was there before.
    ///
    /// @throws IOException if it cannot be the next
    public boolean isDuplicate(Frame frame) throws IOException {
        if (frame.sequence() > expected) {
            throw new IOException("hole in the sequence: lane=" + frame.lane() + " sequence=" + frame.sequence()
                    + " expected=" + expected);
        }
        boolean again = frame.sequence() < expected;
        if (again && frame.offset() + frame.length() == frame.total()) {
            duplicates++;
        }
        return again;
    }

    /// Notes that a fragment has arrived, which is put together elsewhere.
    ///
    /// @return true if it was its message's last
    /// @throws IOException if it does not continue what is there
    public boolean advance(Frame frame) throws IOException {
        checkPlace(frame);
        return step(frame);
    }

    private void checkPlace(Frame frame) throws IOException {
        if (frame.offset() != landed || first != null && !continues(first, frame)) {
            throw new IOException("fragment out of place: offset=" + frame.offset() + " landed=" + landed + " total="
                    + frame.total() + " before=" + (first == null ? 0 : first.total()));
        }
    }

    private boolean step(Frame frame) {
        landed += frame.length();
        if (landed < frame.total()) {
            first = first == null ? frame : first;
            return false;
        }
        landed = 0;
        first = null;
        expected++;
        return true;
    }

    private static boolean continues(Frame begun, Frame frame) {
        return frame.total() == begun.total()
                && frame.kind() == begun.kind()
                && frame.session() == begun.session()
                && frame.number() == begun.number();
    }

    /// Takes in a fragment, and ownership of its bytes. If that fails, the message did not arrive: it comes again.
    ///
    /// @return the whole message, if this was its last fragment; else `null`
    /// @throws IOException if it does not continue what is there
    @Nullable
    public SealedBuffer take(Frame frame, SealedBuffer body) throws IOException {
        SealedBuffer whole = null;
        boolean taken = false;
        try {
            checkPlace(frame);
            boolean last = landed + frame.length() >= frame.total();
            if (last) {
                whole = parts.isEmpty() ? body : SealedBuffer.concat(partsAnd(body));
            } else {
                parts.add(body);
            }
            taken = true;
        } finally {
            if (!taken) {
                body.close();
            }
        }
        // from here on nothing fails
        if (whole != null && whole != body) {
            close(body);
            letGo();
        }
        step(frame);
        return whole;
    }

    private SealedBuffer[] partsAnd(SealedBuffer last) {
        SealedBuffer[] all = parts.toArray(new SealedBuffer[parts.size() + 1]);
        all[parts.size()] = last;
        return all;
    }

    /// The next message will never be whole.
    ///
    /// @return its first frame, or `null` if nothing of it has arrived
    /// @throws IOException if it was announced with another length
    @Nullable
    public Frame skip(Frame frame) throws IOException {
        if (first != null && first.total() != frame.total()) {
            throw new IOException("skips another message: total=" + frame.total() + " before=" + first.total());
        }
        Frame begun = first;
        interrupt();
        expected++;
        return begun;
    }

    /// The next message, of which nothing has come in this lane, is here. Cannot fail.
    public void pass() {
        expected++;
    }

    /// The connection is over: the message that was arriving will begin anew.
    void interrupt() {
        letGo();
        landed = 0;
        first = null;
    }

    private void letGo() {
        parts.forEach(Reassembler::close);
        parts.clear();
    }

    /// A user's listener may fail, and no part stays for the next message.
    private static void close(SealedBuffer part) {
        try {
            part.close();
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.RELEASE, failure);
        }
    }

    /// Goes on where a cut was taken.
    void restore(long next) {
        expected = RestoredNumbers.of(next);
    }

    /// The session is over.
    void reset() {
        interrupt();
        expected = 0;
    }
}
