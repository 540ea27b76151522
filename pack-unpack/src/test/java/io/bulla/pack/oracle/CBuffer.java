// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

/// What both libraries' buffers end with: `base_ptr`, `pack_ptr`, `unpack_ptr`, `bytes_allocated`, `bytes_used`.
///
/// @param memory where it is
/// @param base address of `base_ptr`
record CBuffer(CMemory memory, long base) {

    static final int BYTES = 40;

    /// Borrows the bytes to the buffer, its position before them. C must not pack into it.
    void fill(byte[] bytes) {
        if (bytes.length == 0) {
            return;
        }
        long start = memory.bytes(bytes);
        memory.putLong(base, start);
        memory.putLong(base + 8, start + bytes.length);
        memory.putLong(base + 16, start);
        memory.putLong(base + 24, bytes.length);
        memory.putLong(base + 32, bytes.length);
    }

    /// The bytes that C allocated, which are then freed.
    byte[] take() {
        return memory.takeBytes(memory.getLong(base), memory.getLong(base + 32));
    }

    /// How many bytes are behind the position.
    long unread() {
        return memory.getLong(base + 32) - (memory.getLong(base + 16) - memory.getLong(base));
    }
}
