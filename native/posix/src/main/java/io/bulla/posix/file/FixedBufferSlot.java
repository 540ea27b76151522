// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import io.bulla.buffer.internal.IntrusiveStack;
import io.bulla.pool.device.MemoryRegistration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// One life of a place in a table of registered memory. Belongs to the table's thread, but for its retirement, which
/// any thread may ask for.
final class FixedBufferSlot implements MemoryRegistration {

    /// Those that are to be retired: from any thread to the table's. It takes no heap.
    static final class Retired extends IntrusiveStack<FixedBufferSlot> {

        // the table's thread alone: what it took and has not done yet, linked
        private @Nullable FixedBufferSlot taken;

        /// The one that was asked for first. The table's thread alone, as for [#putBack].
        ///
        /// @return `null` if there is none
        @Nullable
        FixedBufferSlot take() {
            FixedBufferSlot slot = taken != null ? taken : takeInOrder();
            if (slot != null) {
                taken = slot.next;
                slot.next = null;
            }
            return slot;
        }

        /// It is not done yet, and is the next one.
        void putBack(FixedBufferSlot slot) {
            slot.next = taken;
            taken = slot;
        }

        @Override
        protected @Nullable FixedBufferSlot next(FixedBufferSlot slot) {
            return slot.next;
        }

        @Override
        protected void link(FixedBufferSlot slot, @Nullable FixedBufferSlot next) {
            slot.next = next;
        }
    }

    final int index;
    final long key;
    final long address;
    final long length;
    // the table that the place is in
    private final Object table;
    // reads and writes that the kernel has not answered
    int transfers;
    // the kernel was told to forget the memory
    boolean emptied;
    // there once it is retired
    @Nullable
    Runnable memoryIsFree;

    // by whom it was first asked for
    private final AtomicReference<@Nullable Runnable> asked = new AtomicReference<>();
    private @Nullable FixedBufferSlot next;

    FixedBufferSlot(Object table, int index, long key, long address, long length) {
        this.table = table;
        this.index = index;
        this.key = key;
        this.address = address;
        this.length = length;
    }

    /// Any thread.
    ///
    /// @return false if its retirement was asked for before, who is told then
    boolean ask(Runnable toTell) {
        // volatile: one of them; what it tells is seen by the table's thread through the stack
        return asked.compareAndSet(null, toTell);
    }

    /// It was asked for: this one is told.
    void retire() {
        // volatile: the stack orders it
        memoryIsFree = asked.get();
    }

    boolean isOf(Object other) {
        return table == other;
    }

    @Override
    public long key() {
        return key;
    }

    @Override
    public String toString() {
        return "slot=" + index + " key=" + key + " bytes=" + length + " transfers=" + transfers;
    }
}
