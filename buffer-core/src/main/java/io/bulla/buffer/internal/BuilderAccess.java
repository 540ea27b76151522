// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The memory that a builder writes to: for packing, which writes a number of any length or a text in one go, and for
/// sinks that change what they wrote. No segment is kept across a write, so that none is left after the seal.
///
/// The builder's own type is a parameter, since this package lies below the builder's.
///
/// @param <B> the builder
public abstract class BuilderAccess<B> {

    // plain: written by the initializer of the builder's class, which is over before anything reads it
    private static @Nullable BuilderAccess<?> offered;

    private final Class<B> type;

    /// Access to one type.
    ///
    /// @param type the builder's
    protected BuilderAccess(Class<B> type) {
        this.type = type;
    }

    /// Hands in the access, as the builder's class is initialized.
    ///
    /// @param access to that class
    /// @throws IllegalStateException if there is one already
    public static void offer(BuilderAccess<?> access) {
        if (offered != null) {
            throw new IllegalStateException("access offered twice: type=" + access.type.getName());
        }
        offered = access;
    }

    /// The access to a builder: keep it in a constant, and its calls cost nothing.
    ///
    /// @param type the builder's
    /// @return the one that its class offered
    /// @param <B> the builder
    /// @throws IllegalArgumentException if the class offered none
    public static <B> BuilderAccess<B> of(Class<B> type) {
        try {
            MethodHandles.lookup().ensureInitialized(type);
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException("no access to this type: type=" + type.getName(), e);
        }
        BuilderAccess<?> found = Objects.requireNonNull(offered, "offered");
        if (found.type != type) {
            throw new IllegalArgumentException("no access to this type: type=" + type.getName());
        }
        @SuppressWarnings("unchecked")
        BuilderAccess<B> access = (BuilderAccess<B>) found;
        return access;
    }

    /// The region that the next byte goes to.
    ///
    /// @param builder its thread is the caller's
    /// @return writable memory; the segment of no bytes before the first write and after the seal
    public abstract MemorySegment memory(B builder);

    /// Where the next byte goes.
    ///
    /// @param builder its thread is the caller's
    /// @return offset in [#memory]
    public abstract long used(B builder);

    /// Bytes from there to the end of the region.
    ///
    /// @param builder its thread is the caller's
    /// @return 0 after the seal
    public abstract long room(B builder);

    /// Makes bytes count that were written from [#used] on.
    ///
    /// @param builder its thread is the caller's
    /// @param bytes at most [#room]; not checked
    public abstract void advance(B builder, long bytes);

    /// Bytes written to a builder that still writes.
    ///
    /// @param builder its thread is the caller's
    /// @return at least 0
    /// @throws IllegalStateException if the builder is sealed or abandoned
    public abstract long checkedSize(B builder);

    /// What was written, from `offset` to the end of the region that it lies in: for a sink that changes what it
    /// wrote.
    ///
    /// @param builder its thread is the caller's
    /// @param offset in bytes
    /// @return writable memory
    /// @throws IndexOutOfBoundsException if so much is not written
    /// @throws IllegalStateException if the builder is sealed or abandoned
    public abstract MemorySegment writtenFrom(B builder, long offset);
}
