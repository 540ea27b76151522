// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.ancestor;

import io.bulla.testkit.PoisoningSource;
import java.util.Arrays;

/// A model of `opal_buffer_t` as of 2012, kept to show the bug that Bulla exists for. Never use it.
///
/// One object holds the block, the write position and the room. To get at the bytes for a send, the block is
/// taken out (`unload`) and put back (`load`), on the object that everybody shares. `unload` appends a byte
/// that tells the buffer's type, so it may have to grow the block; `load` sets the room to what is used, so the
/// next `unload` always has to.
final class OpalBuffer {

    /// A block of C memory: `free` and `realloc` leave poison behind, as a debugging allocator does.
    static final class Block {
        byte[] bytes;

        Block(int size) {
            bytes = new byte[size];
        }

        Block realloc(int size) {
            Block moved = new Block(size);
            System.arraycopy(bytes, 0, moved.bytes, 0, Math.min(size, bytes.length));
            Arrays.fill(bytes, PoisoningSource.POISON);
            return moved;
        }
    }

    /// What `unload` hands out.
    record Unloaded(Block block, int length) {}

    private Block base;
    private int allocated;
    private int used;

    void pack(byte... values) {
        extend(values.length);
        System.arraycopy(values, 0, base.bytes, used, values.length);
        used += values.length;
    }

    int bytesUsed() {
        return used;
    }

    Unloaded unload() {
        if (base == null) {
            return new Unloaded(null, 0);
        }
        extend(1);
        base.bytes[used++] = 1;
        Unloaded out = new Unloaded(base, used);
        base = null;
        allocated = 0;
        used = 0;
        return out;
    }

    void load(Unloaded in) {
        base = in.block();
        used = in.length() - 1;
        allocated = used;
    }

    private void extend(int more) {
        if (base != null && allocated - used >= more) {
            return;
        }
        int size = grown(used + more);
        base = base == null ? new Block(size) : base.realloc(size);
        allocated = size;
    }

    private int grown(int required) {
        if (required >= 1024) {
            return (required + 1023) / 1024 * 1024;
        }
        int size = allocated == 0 ? 128 : allocated;
        while (size < required) {
            size *= 2;
        }
        return size;
    }
}
