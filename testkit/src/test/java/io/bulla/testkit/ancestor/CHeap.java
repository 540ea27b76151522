// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.ancestor;

import io.bulla.testkit.PoisoningSource;
import java.util.Arrays;

/// C memory, for the models of old bugs: `free` leaves poison behind, and throws where glibc would abort.
final class CHeap {

    /// An address: a block and an offset into it.
    record Pointer(Block block, int offset) {

        Pointer plus(int bytes) {
            return new Pointer(block, offset + bytes);
        }

        byte[] read(int length) {
            return Arrays.copyOfRange(block.bytes, offset, offset + length);
        }
    }

    /// What `malloc` hands out, or a piece of the stack.
    static final class Block {
        private final byte[] bytes;
        private final boolean onStack;
        private boolean freed;

        private Block(byte[] bytes, boolean onStack) {
            this.bytes = bytes;
            this.onStack = onStack;
        }
    }

    /// An `opal_object_t` of a build without threads: a plain count, read again after it was changed.
    static final class Counted {
        private final Pointer payload;
        private int references = 1;

        Counted(Pointer payload) {
            this.payload = payload;
        }

        Counted retain() {
            add(1);
            return this;
        }

        void release() {
            add(-1);
            freeIfLast();
        }

        /// The first half of a release.
        void add(int references) {
            this.references += references;
        }

        /// The second half: looks at the count again.
        void freeIfLast() {
            if (references == 0) {
                free(payload);
            }
        }

        Pointer payload() {
            return payload;
        }

        byte[] read() {
            return payload.read(payload.block.bytes.length);
        }
    }

    private CHeap() {}

    static Pointer malloc(byte... content) {
        return new Pointer(new Block(content.clone(), false), 0);
    }

    static Pointer onStack(byte... content) {
        return new Pointer(new Block(content.clone(), true), 0);
    }

    static void free(Pointer pointer) {
        if (pointer.offset != 0 || pointer.block.onStack) {
            throw new IllegalStateException("free(): invalid pointer");
        }
        if (pointer.block.freed) {
            throw new IllegalStateException("free(): double free detected");
        }
        pointer.block.freed = true;
        Arrays.fill(pointer.block.bytes, PoisoningSource.POISON);
    }

    /// What a reader of freed memory sees.
    static byte[] poison(int length) {
        byte[] poison = new byte[length];
        Arrays.fill(poison, PoisoningSource.POISON);
        return poison;
    }
}
