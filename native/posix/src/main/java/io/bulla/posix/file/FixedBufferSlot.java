// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import io.bulla.pool.device.MemoryRegistration;
import org.jspecify.annotations.Nullable;

/// One life of a place in a table of registered memory. Belongs to the table's thread.
final class FixedBufferSlot implements MemoryRegistration {

    final int index;
    final long key;
    final long address;
    final long length;
    // the table that the place is in
    private final Object table;
    // reads and writes that the kernel has not answered
    int transfers;
    // there once it is retired
    @Nullable
    Runnable memoryIsFree;

    FixedBufferSlot(Object table, int index, long key, long address, long length) {
        this.table = table;
        this.index = index;
        this.key = key;
        this.address = address;
        this.length = length;
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
