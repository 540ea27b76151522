// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import java.util.ArrayList;
import java.util.List;

/// A C library as one side: one call per item, as a C program does it.
abstract class CLibrary implements Library {

    /// C refused what Java took.
    static final class Refusal extends RuntimeException {

        private static final long serialVersionUID = 1;

        Refusal(String message) {
            super(message);
        }
    }

    final CMemory memory;
    private final CValues values;

    CLibrary(CMemory memory, CValues values) {
        this.memory = memory;
        this.values = values;
    }

    /// What to name in a report.
    abstract String version();

    /// A buffer whose position is before the given bytes.
    abstract long buffer(byte[] bytes);

    /// Packs an item at the end of a buffer.
    abstract int packItem(long buffer, long source, int count, int typeId) throws Throwable;

    /// Unpacks the item at a buffer's position; the count says how many fit, then how many came.
    abstract int unpackItem(long buffer, long target, long count, int typeId) throws Throwable;

    /// The bytes of a buffer that C filled, which are then freed.
    abstract byte[] takeBytesOf(long buffer);

    /// How many bytes of a buffer C has not read.
    abstract long unread(long buffer);

    @Override
    public final byte[] pack(List<Item> items) {
        memory.reset();
        long buffer = buffer(new byte[0]);
        for (Item item : items) {
            long source = values.putAll(item.type(), item.values());
            try {
                int status = packItem(buffer, source, item.values().size(), id(item));
                check(status, "packing", item);
            } catch (Refusal refusal) {
                throw refusal;
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
        }
        return takeBytesOf(buffer);
    }

    @Override
    public final List<List<Object>> unpack(byte[] bytes, List<Item> shape) {
        memory.reset();
        long buffer = buffer(bytes);
        List<List<Object>> all = new ArrayList<>();
        for (Item item : shape) {
            int room = Math.max(1, item.values().size());
            long target = memory.allocate(room * values.width(item.type()));
            long count = memory.allocate(Integer.BYTES);
            memory.putInt(count, room);
            try {
                check(unpackItem(buffer, target, count, id(item)), "unpacking", item);
            } catch (Refusal refusal) {
                throw refusal;
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
            all.add(values.takeAll(target, item.type(), memory.getInt(count)));
        }
        if (unread(buffer) != 0) {
            throw new Refusal("C has not read all bytes: unread=" + unread(buffer));
        }
        return all;
    }

    private int id(Item item) {
        return values.format.id(item.type());
    }

    private static void check(int status, String doing, Item item) {
        if (status != 0) {
            throw new Refusal("C refused " + doing + ": status=" + status + " type=" + item.type() + " count="
                    + item.values().size());
        }
    }
}
