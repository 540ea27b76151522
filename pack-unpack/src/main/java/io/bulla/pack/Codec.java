// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;

/// Packs and unpacks values of a type of your own, as items one after the other.
///
/// ```java
/// import io.bulla.buffer.*;
/// import io.bulla.pack.*;
/// import java.lang.invoke.MethodHandles;
///
/// record Job(String name, int ranks) {}
///
/// void main() {
///     Codec<Job> jobs = Codec.ofRecord(MethodHandles.lookup(), Job.class);
///     try (ArenaSource memory = ArenaSource.create();
///             BufferBuilder builder = BufferBuilder.create(memory)) {
///         jobs.pack(Packer.into(builder, WireFormat.PMIX_4), new Job("ring", 16));
///         try (SealedBuffer message = builder.seal()) {
///             IO.println(jobs.unpack(Unpacker.of(message, WireFormat.PMIX_4)));
///         }
///     }
/// }
/// ```
///
/// ```text
/// Job[name=ring, ranks=16]
/// ```
///
/// A codec is stateless; any number of threads may use it. It packs at least one item, and reads the items that it
/// packed and no others: nothing in the bytes says where a value ends. What the packer throws goes on to the caller.
/// A codec may use a registry for values inside its own, as deep as [Limits#maxNesting]. A reader counts those that
/// lie in a buffer of their own; a packer does not see them.
///
/// @param <T> the values
public interface Codec<T extends @Nullable Object> {

    /// Packs the items of one value. What it throws undoes the whole call that it is part of, and is thrown there
    /// with the codec's name.
    ///
    /// @param packer into the same builder, in the same format
    /// @param value what to pack
    void pack(Packer packer, T value);

    /// Unpacks the items of one value.
    ///
    /// @param unpacker at the first of them
    /// @return the value
    /// @throws UnpackException if the items are others
    T unpack(Unpacker unpacker);

    /// A codec for a record: an item for each component, in their order.
    ///
    /// Components may be `boolean`, `byte`, `short`, `int`, `long`, `float`, `double`, `String`, `int[]`,
    /// `long[]`, a [Composite][io.bulla.pack.value.Composite], or a record of such components.
    ///
    /// @param lookup may see the record's constructor and accessors
    /// @param record has at least one component
    /// @param <R> the record
    /// @return a codec
    /// @throws IllegalArgumentException if a component is of another type, or the lookup may not see them
    static <R extends Record> Codec<R> ofRecord(MethodHandles.Lookup lookup, Class<R> record) {
        return new RecordCodec<>(lookup, record);
    }
}
