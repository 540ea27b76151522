// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.message;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.value.Kval;
import io.bulla.runtime.pmix.PmixValue;
import io.bulla.runtime.pmix.internal.wire.Detached;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Keys and values of one process, packed as they came: `KVAL*` and nothing else. They are read through when one is
/// asked for: as objects they would take many times their bytes.
///
/// @param bytes a slice of the message that they came in
public record PackedData(SealedBuffer bytes, Reading reading) implements AutoCloseable {

    /// Sees what has a key, in the order of the bytes.
    public interface Pairs {

        /// @param pair borrows the message
        /// @param end where the next one starts, from the start of all of them
        void pair(Kval pair, long end);
    }

    /// What is left of a message, which stays the caller's; it is read through once.
    ///
    /// @param each sees what is read; if it throws, nothing is kept
    /// @throws io.bulla.pack.UnpackException if there is anything but keys and values
    public static PackedData restOf(SealedBuffer message, Unpacker at, Reading reading, Pairs each) {
        PackedData data = new PackedData(message.slice(at.position(), at.remaining()), reading);
        try {
            // a value that cannot be kept would fail who asks for it
            Detached kept = new Detached(reading.limits());
            data.read((pair, end) -> {
                kept.value(pair.value());
                each.pair(pair, end);
            });
            return data;
        } catch (Throwable failure) {
            data.close();
            throw failure;
        }
    }

    /// Reads through all that have a key, in their order: a pair without one cannot be asked for.
    public void forEach(Consumer<Kval> each) {
        read((pair, end) -> each.accept(pair));
    }

    private void read(Pairs each) {
        Unpacker items = reading.of(bytes);
        while (items.remaining() > 0) {
            Kval pair = items.unpack(Kval.class);
            if (pair.key() != null) {
                each.pair(pair, items.position());
            }
        }
    }

    public Set<String> keys() {
        Set<String> keys = new HashSet<>();
        forEach(pair -> keys.add(pair.key()));
        return keys;
    }

    /// The last value of a key.
    ///
    /// @return `null` if the key is not here
    public @Nullable PmixValue find(String key) {
        @Nullable Kval[] found = new @Nullable Kval[1];
        forEach(pair -> {
            if (key.equals(pair.key())) {
                found[0] = pair;
            }
        });
        Kval last = found[0];
        return last == null ? null : new PmixValue(Detached.value(last.value(), reading.limits()));
    }

    @Override
    public void close() {
        bytes.close();
    }
}
