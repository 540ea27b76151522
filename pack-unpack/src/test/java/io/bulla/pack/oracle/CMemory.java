// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/// The memory that both sides see, by address; and what C allocated, taken back.
@SuppressWarnings("restricted")
final class CMemory {

    private static final long SCRATCH_BYTES = 16L << 20;
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final MethodHandle FREE =
            function(Linker.nativeLinker().defaultLookup(), "free", FunctionDescriptor.ofVoid(JAVA_LONG));

    private final MemorySegment scratch = Arena.global().allocate(SCRATCH_BYTES, 16);
    private long used;

    /// @throws IllegalArgumentException if it is not there
    static SymbolLookup library(String file) {
        return SymbolLookup.libraryLookup(file, Arena.global());
    }

    static MethodHandle function(SymbolLookup library, String name, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), descriptor);
    }

    /// The address of a variable of a library.
    static long variable(SymbolLookup library, String name) {
        return library.findOrThrow(name).address();
    }

    /// `cls_sizeof` of a class descriptor: three pointers, a pointer, two ints and two pointers stand before it.
    static long sizeOfClass(SymbolLookup library, String name) {
        return ALL.get(JAVA_LONG_UNALIGNED, variable(library, name) + 56);
    }

    /// Zeroed memory that lasts until [#reset].
    long allocate(long byteSize) {
        long start = used;
        used = Math.addExact(used, (byteSize + 15) & -16);
        return scratch.asSlice(start, used - start).address();
    }

    /// Forgets, and zeroes, all that was allocated.
    void reset() {
        scratch.asSlice(0, used).fill((byte) 0);
        used = 0;
    }

    void putByte(long at, byte value) {
        ALL.set(JAVA_BYTE, at, value);
    }

    void putShort(long at, short value) {
        ALL.set(JAVA_SHORT_UNALIGNED, at, value);
    }

    void putInt(long at, int value) {
        ALL.set(JAVA_INT_UNALIGNED, at, value);
    }

    void putLong(long at, long value) {
        ALL.set(JAVA_LONG_UNALIGNED, at, value);
    }

    void putFloat(long at, float value) {
        ALL.set(JAVA_FLOAT_UNALIGNED, at, value);
    }

    void putDouble(long at, double value) {
        ALL.set(JAVA_DOUBLE_UNALIGNED, at, value);
    }

    byte getByte(long at) {
        return ALL.get(JAVA_BYTE, at);
    }

    short getShort(long at) {
        return ALL.get(JAVA_SHORT_UNALIGNED, at);
    }

    int getInt(long at) {
        return ALL.get(JAVA_INT_UNALIGNED, at);
    }

    long getLong(long at) {
        return ALL.get(JAVA_LONG_UNALIGNED, at);
    }

    float getFloat(long at) {
        return ALL.get(JAVA_FLOAT_UNALIGNED, at);
    }

    double getDouble(long at) {
        return ALL.get(JAVA_DOUBLE_UNALIGNED, at);
    }

    /// Copies text, with its terminating zero, into memory that is large enough.
    void putText(long at, String text) {
        putBytes(at, RawText.bytes(text));
    }

    void putBytes(long at, byte[] bytes) {
        MemorySegment.copy(bytes, 0, ALL, JAVA_BYTE, at, bytes.length);
    }

    String getText(long at) {
        long end = at;
        while (ALL.get(JAVA_BYTE, end) != 0) {
            end++;
        }
        return RawText.text(getBytes(at, end - at));
    }

    byte[] getBytes(long at, long byteSize) {
        return ALL.asSlice(at, byteSize).toArray(JAVA_BYTE);
    }

    /// The address of a copy of `text`, 0 for null.
    long text(String text) {
        return text == null ? 0 : bytes(RawText.bytes(text + '\0'));
    }

    /// The address of a copy of `bytes`.
    long bytes(byte[] bytes) {
        long at = allocate(bytes.length);
        putBytes(at, bytes);
        return at;
    }

    /// The text that a `char *` at an address points to, which is then freed.
    String takeText(long at) {
        long text = getLong(at);
        if (text == 0) {
            return null;
        }
        String taken = getText(text);
        free(text);
        return taken;
    }

    /// The bytes at an address, which are then freed.
    byte[] takeBytes(long bytes, long byteSize) {
        byte[] taken = byteSize == 0 ? new byte[0] : getBytes(bytes, byteSize);
        free(bytes);
        return taken;
    }

    /// Gives back what C allocated.
    void free(long address) {
        try {
            FREE.invokeExact(address);
        } catch (Throwable failure) {
            throw new AssertionError(failure);
        }
    }
}
