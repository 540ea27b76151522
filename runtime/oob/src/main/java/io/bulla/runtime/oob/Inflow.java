package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// What arrives in one lane from one peer: drops what was there before, and puts fragments together.
///
/// One event loop's.
final class Inflow {

    private final List<SealedBuffer> parts = new ArrayList<>();
    private long expected;
    private long landed;
    private long total;
    private long duplicates;

    /// Sequence of the next message that is not whole yet.
    long expected() {
        return expected;
    }

    /// Messages that arrived again.
    long duplicates() {
        return duplicates;
    }

    /// Whether a frame belongs to a message that was there before.
    ///
    /// @throws IOException if it cannot be the next
    boolean isDuplicate(Frame frame) throws IOException {
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

    /// Takes a fragment in, and ownership of `body`, whatever happens.
    ///
    /// @return the whole message, if this was its last; else `null`
    /// @throws IOException if it does not continue what is there
    SealedBuffer land(Frame frame, SealedBuffer body) throws IOException {
        if (frame.offset() != landed || landed > 0 && frame.total() != total) {
            body.close();
            throw new IOException("fragment out of place: offset=" + frame.offset() + " landed=" + landed + " total="
                    + frame.total() + " before=" + total);
        }
        if (frame.length() == frame.total()) {
            expected++;
            return body;
        }
        parts.add(body);
        total = frame.total();
        landed += frame.length();
        return landed == total ? whole() : null;
    }

    private SealedBuffer whole() {
        SealedBuffer whole = SealedBuffer.concat(parts.toArray(SealedBuffer[]::new));
        interrupt();
        expected++;
        return whole;
    }

    /// The next message will never be whole.
    void skip() {
        interrupt();
        expected++;
    }

    /// The connection is over: the message that was arriving will begin anew.
    void interrupt() {
        parts.forEach(SealedBuffer::close);
        parts.clear();
        landed = 0;
    }

    /// The session is over.
    void reset() {
        interrupt();
        expected = 0;
    }
}
