// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The types of one's own that two ends agreed on, for one format: an id, a class and a codec each.
///
/// An immutable value; nothing is registered globally. Values are packed as the format's own types are: a count,
/// the id where items are described, then the items of each value.
///
/// Ids start where the format's own end: at 100 in OPAL (its `DYNAMIC`) up to 254, at 501 in PMIx up to 65535.
public final class CodecRegistry {

    private static final int FIRST_OF_OPAL = 100;
    private static final int LAST_OF_OPAL = 254;
    private static final int FIRST_OF_PMIX = 501;
    private static final int LAST_OF_PMIX = 0xffff;

    private final WireFormat format;
    private final Map<Class<?>, CodecEntry<?>> byType;
    private final Map<Integer, CodecEntry<?>> byId;

    private CodecRegistry(WireFormat format, Map<Class<?>, CodecEntry<?>> byType, Map<Integer, CodecEntry<?>> byId) {
        this.format = format;
        this.byType = byType;
        this.byId = byId;
    }

    /// A registry without a type.
    ///
    /// @param format what its types are packed in
    /// @return an empty registry
    public static CodecRegistry of(WireFormat format) {
        return new CodecRegistry(format, Map.of(), Map.of());
    }

    /// This registry and one type more.
    ///
    /// @param id not taken, and outside the format's own
    /// @param type not taken
    /// @param codec how its values are packed
    /// @param <T> the values
    /// @return another registry
    /// @throws IllegalArgumentException if the id is outside, or the id or the type is taken
    public <T> CodecRegistry with(int id, Class<T> type, Codec<T> codec) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(codec, "codec");
        int first = format.isPmix() ? FIRST_OF_PMIX : FIRST_OF_OPAL;
        int last = format.isPmix() ? LAST_OF_PMIX : LAST_OF_OPAL;
        if (id < first || id > last) {
            throw new IllegalArgumentException("id is not free for types of one's own: id=" + id + " first=" + first
                    + " last=" + last + " format=" + format);
        }
        if (byId.containsKey(id) || byType.containsKey(type)) {
            throw new IllegalArgumentException("id or type is taken: id=" + id + " type=" + type.getSimpleName());
        }
        CodecEntry<T> entry = new CodecEntry<>(id, type, codec);
        Map<Class<?>, CodecEntry<?>> types = new HashMap<>(byType);
        Map<Integer, CodecEntry<?>> ids = new HashMap<>(byId);
        types.put(type, entry);
        ids.put(id, entry);
        return new CodecRegistry(format, types, ids);
    }

    /// Packs one item.
    ///
    /// @param packer in this registry's format
    /// @param type of all values
    /// @param values any number
    /// @param <T> the values
    /// @throws IllegalArgumentException if the type is not registered, or the format another
    /// @throws IllegalArgumentException if a codec refuses a value, one is null or of another class, or values are
    ///     nested deeper than the packer's limit
    /// @throws IllegalStateException if the codec fails, packs nothing, or goes on after the packer failed; the
    ///     message names it, and the builder is as it was
    public <T> void pack(Packer packer, Class<T> type, List<T> values) {
        CodecEntry<T> entry = entry(type);
        checkFormat(packer.format());
        packer.packCoded(entry, values);
    }

    /// Unpacks one item.
    ///
    /// @param unpacker in this registry's format
    /// @param type what it should be
    /// @param <T> the values
    /// @return its values
    /// @throws IllegalArgumentException if the type is not registered, or the format another
    /// @throws UnpackException if the next item is something else or is malformed, or values are nested deeper than
    ///     the unpacker's limit
    /// @throws IllegalStateException if the codec fails, unpacks nothing, or a value that is null or of another
    ///     class; the message names it, and the unpacker is where it was
    public <T> List<T> unpack(Unpacker unpacker, Class<T> type) {
        CodecEntry<T> entry = entry(type);
        checkFormat(unpacker.format);
        return unpacker.unpackCoded(entry);
    }

    /// Unpacks the next item, whatever it is, if it says its type.
    ///
    /// @param unpacker in this registry's format, described
    /// @return its values: of a registered type, or as [io.bulla.pack.value.DataType#javaClass] says
    /// @throws IllegalArgumentException if the format is another
    /// @throws IllegalStateException if items are not described
    /// @throws UnpackException if the type is unknown here, or the item is malformed
    public List<?> unpackNext(Unpacker unpacker) {
        checkFormat(unpacker.format);
        if (!format.described()) {
            throw new IllegalStateException("item does not say its type: format=" + format);
        }
        ItemHeader next = unpacker.peek();
        if (next.type() != null) {
            return unpacker.unpack(next.type());
        }
        CodecEntry<?> entry = byId.get(next.typeId());
        if (entry == null) {
            throw ByteCursor.failed(
                    UnpackException.Reason.MALFORMED,
                    "unknown type",
                    "a type of " + format,
                    next.typeId(),
                    unpacker.position());
        }
        return unpack(unpacker, entry.type());
    }

    @SuppressWarnings("unchecked")
    private <T> CodecEntry<T> entry(Class<T> type) {
        CodecEntry<?> entry = byType.get(type);
        if (entry == null) {
            throw new IllegalArgumentException("type is not registered: type=" + type.getSimpleName());
        }
        return (CodecEntry<T>) entry;
    }

    private void checkFormat(WireFormat other) {
        if (other != format) {
            throw new IllegalArgumentException("registry of another format: registry=" + format + " given=" + other);
        }
    }
}
