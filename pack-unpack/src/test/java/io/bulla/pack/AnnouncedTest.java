// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What a message announces takes memory only as far as its bytes answer for it.
class AnnouncedTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final WireFormat DESCRIBED = WireFormat.PMIX_4_DESCRIBED;
    private static final int MANY = (1 << 24) - 1;

    /// Seven bytes: an array of 16 million values that have no bytes of their own.
    @Test
    void arrayOfPointersTakesNoMemoryForEach() {
        try (SealedBuffer buffer = Packed.sealed(Packed.ofHex("02 1f ffffff07 01"))) {
            Unpacker unpacker = Unpacker.of(buffer, WireFormat.PMIX_4);
            unpacker.fork().unpack(DataArray.class);
            long before = allocated();
            DataArray array = unpacker.unpack(DataArray.class);
            assertEquals(MANY, array.values().size());
            assertEquals("DataArray[type=POINTER, values=16777215 x null]", array.toString());
            assertEquals(new DataArray(DataType.POINTER, Collections.nCopies(MANY, null)), array);
            assertTrue(allocated() - before < 1 << 20, "bytes=" + (allocated() - before));
            assertThrows(
                    UnsupportedOperationException.class, () -> array.values().add(null));
        }
    }

    @Test
    void arrayOfCopiesIsCheckedAndEqualToAnyOther() {
        assertEquals(DataArray.of(DataType.INT32, 7, 7, 7), new DataArray(DataType.INT32, Collections.nCopies(3, 7)));
        assertEquals(
                "value does not fit its type: type=INT32 expected=Integer found=Long",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> new DataArray(DataType.INT32, Collections.nCopies(3, 7L)))
                        .getMessage());
        assertEquals(
                "DataArray[type=POINTER, values=2 x null]",
                DataArray.of(DataType.POINTER, null, null).toString());
    }

    /// Eight KiB of such arrays, and of values that are text, deep or in nested buffers.
    @Test
    void explainingEightKibibytesTakesMemoryByTheirBytes() {
        WireFormat format = DESCRIBED;
        for (String item : List.of("090227 1f ffff3f 01", "09feff7f 1f 01", "09feff7f 00", "090215 27 1f ffff1f 01")) {
            byte[] one = Packed.ofHex(item);
            byte[] all = new byte[8192 / one.length * one.length];
            for (int at = 0; at < all.length; at += one.length) {
                System.arraycopy(one, 0, all, at, one.length);
            }
            try (SealedBuffer buffer = Packed.sealed(all)) {
                Explain.described(buffer, format, new StringBuilder());
                long before = allocated();
                assertTrue(Explain.described(buffer, format, new StringBuilder()), item);
                assertTrue(allocated() - before < 64 << 20, item + " bytes=" + (allocated() - before));
            }
        }
    }

    private static long allocated() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }
}
