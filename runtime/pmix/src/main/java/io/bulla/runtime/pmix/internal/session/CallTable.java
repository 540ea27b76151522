// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.pmix.internal.wire.Header;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Calls that wait for their answers, by tag, and frames that wait to be written. All of it under the session's lock.
final class CallTable {

    private final Map<Integer, Call> calls = new HashMap<>();
    // links: an add that finds no heap leaves the others
    private final Deque<Frame> unsent = new LinkedList<>();
    private int nextTag = Header.FIRST_TAG;

    int calls() {
        return calls.size();
    }

    int unsent() {
        return unsent.size();
    }

    /// Gives the call a tag, and puts its frame behind the others.
    void add(Call call, SealedBuffer body) {
        call.tag = freeTag();
        calls.put(call.tag, call);
        unsent.add(new Frame(call, call.tag, body));
    }

    /// Puts a frame without a call behind the others.
    void add(SealedBuffer body) {
        unsent.add(new Frame(null, freeTag(), body));
    }

    private int freeTag() {
        do {
            // without a sign; past the last one the server's own come again
            nextTag = nextTag == -1 ? Header.FIRST_TAG : nextTag + 1;
        } while (calls.containsKey(nextTag));
        return nextTag;
    }

    @Nullable
    Frame nextUnsent() {
        return unsent.poll();
    }

    /// Takes a call out, whose answer has come.
    ///
    /// @return `null` if no call waits for it
    @Nullable
    Call answered(int tag) {
        return calls.remove(tag);
    }

    /// Takes a call's frame out.
    ///
    /// @return its body, or `null` if it was written
    @Nullable
    SealedBuffer withdraw(Call call) {
        SealedBuffer unused = null;
        for (Iterator<Frame> frames = unsent.iterator(); frames.hasNext(); ) {
            Frame frame = frames.next();
            if (frame.call() == call) {
                frames.remove();
                unused = frame.body();
            }
        }
        return unused;
    }

    /// Takes a call out, if it is there.
    void remove(Call call) {
        calls.remove(call.tag, call);
    }

    /// All that waits, as it is now.
    Waiting waiting() {
        return new Waiting(new ArrayList<>(calls.values()), new ArrayList<>(unsent));
    }

    void clear() {
        calls.clear();
        unsent.clear();
    }

    /// Calls and frames of a table.
    record Waiting(List<Call> calls, List<Frame> frames) {}
}
