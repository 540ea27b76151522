// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.SealedBuffer;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/// The program's state at a cut: written on the handlers' thread, read when the cut is there.
final class Saving implements Runnable, AutoCloseable {

    private final Map<String, StateSaver> savers;
    private final SortedMap<String, SealedBuffer> states = new TreeMap<>();

    Saving(Map<String, StateSaver> savers) {
        this.savers = savers;
    }

    @Override
    public void run() {
        savers.forEach(this::save);
    }

    private void save(String name, StateSaver saver) {
        // the place before the handle
        states.put(name, SealedBuffer.concat());
        try {
            SealedBuffer state = saver.save();
            if (state == null) {
                throw new NullPointerException("no buffer");
            }
            states.replace(name, state).close();
        } catch (Exception failure) {
            throw new IllegalStateException(
                    "state cannot be saved: name=" + name + " reason=" + failure.getMessage(), failure);
        }
    }

    SortedMap<String, SealedBuffer> states() {
        return states;
    }

    @Override
    public void close() {
        states.values().forEach(SealedBuffer::close);
    }
}
