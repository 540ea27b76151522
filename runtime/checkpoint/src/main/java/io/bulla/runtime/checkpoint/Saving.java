// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The program's state at a cut: written on the handlers' thread, read when the cut is there. It is closed by what
/// asked for the cut, which may have heard nothing of it when there was no heap; nothing is saved from then on.
final class Saving implements Runnable, AutoCloseable {

    private final Map<String, StateSaver> savers;
    private final SortedMap<String, SealedBuffer> states = new TreeMap<>();
    // under the lock, with room for all: to close takes no heap
    private final List<SealedBuffer> saved;
    private boolean over;

    Saving(Map<String, StateSaver> savers) {
        this.savers = savers;
        this.saved = new ArrayList<>(savers.size());
    }

    /// Asks for a cut, right before which the state is saved, if the receiver will hear of it.
    ///
    /// @param then gets the cut, or why there is none
    synchronized void take(LiveCut live, BiConsumer<? super @Nullable NodeCut, ? super @Nullable Throwable> then) {
        boolean heard = false;
        try {
            live.take(this).whenComplete(then);
            heard = true;
        } finally {
            over |= !heard;
        }
    }

    @Override
    public void run() {
        checkRuns();
        savers.forEach(this::save);
    }

    private synchronized void checkRuns() {
        if (over) {
            throw new IllegalStateException("checkpoint is over");
        }
    }

    private void save(String name, StateSaver saver) {
        try {
            SealedBuffer state = saver.save();
            if (state == null) {
                throw new NullPointerException("no buffer");
            }
            keep(state);
            states.put(name, state);
        } catch (Exception failure) {
            throw new IllegalStateException(
                    "state cannot be saved: name=" + name + " reason=" + failure.getMessage(), failure);
        }
    }

    private synchronized void keep(SealedBuffer state) {
        saved.add(state);
        if (over) {
            close();
            checkRuns();
        }
    }

    /// Once all is saved.
    SortedMap<String, SealedBuffer> states() {
        return states;
    }

    /// The states are another's to close from now on.
    synchronized void handOver() {
        over = true;
        saved.clear();
    }

    @Override
    public synchronized void close() {
        over = true;
        Throwable failure = Failures.closeAll(saved, null);
        saved.clear();
        Failures.rethrow(failure);
    }
}
