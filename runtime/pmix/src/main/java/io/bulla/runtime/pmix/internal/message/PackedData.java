// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Limits;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Kval;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Keys and values of one process, packed as they came: `KVAL*` and nothing else. They are read through when one is
/// asked for: as objects they would take many times their bytes.
///
/// @param bytes a slice of the message that they came in
record PackedData(SealedBuffer bytes, WireFormat format, Limits limits) implements AutoCloseable {

    /// What is left of a message, which stays the caller's; it is read through once.
    ///
    /// @throws io.bulla.pack.UnpackException if there is anything but keys and values
    static PackedData restOf(SealedBuffer message, Unpacker at, Limits limits, WireFormat format) {
        PackedData data = new PackedData(message.slice(at.position(), at.remaining()), format, limits);
        try {
            // a value that cannot be kept would fail who asks for it
            Detached kept = new Detached(limits);
            data.forEach(pair -> kept.value(pair.value()));
            return data;
        } catch (Throwable failure) {
            data.close();
            throw failure;
        }
    }

    /// Reads through all that have a key, in their order: a pair without one cannot be asked for.
    void forEach(Consumer<Kval> each) {
        Unpacker items = Unpacker.of(bytes, format, limits);
        while (items.remaining() > 0) {
            Kval pair = items.unpack(Kval.class);
            if (pair.key() != null) {
                each.accept(pair);
            }
        }
    }

    Set<String> keys() {
        Set<String> keys = new HashSet<>();
        forEach(pair -> keys.add(pair.key()));
        return keys;
    }

    /// The last value of a key.
    ///
    /// @return `null` if the key is not here
    @Nullable
    PmixValue find(String key) {
        @Nullable Kval[] found = new @Nullable Kval[1];
        forEach(pair -> {
            if (key.equals(pair.key())) {
                found[0] = pair;
            }
        });
        Kval last = found[0];
        return last == null ? null : new PmixValue(Detached.value(last.value(), limits));
    }

    @Override
    public void close() {
        bytes.close();
    }
}
