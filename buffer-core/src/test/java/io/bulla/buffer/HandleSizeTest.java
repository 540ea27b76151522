// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.GraphLayout;
import org.openjdk.jol.vm.VM;

/// Bytes of heap, with the headers and references that a JVM has by default. The figures are printed, since they
/// are what the docs say.
class HandleSizeTest {

    @Test
    void untaggedShareIsOneObjectOfAtMost32Bytes() throws ClassNotFoundException {
        defaultLayout();
        try (ArenaSource source = ArenaSource.create();
                SealedBuffer first = Bytes.sealed(source, 100);
                SealedBuffer share = first.share()) {
            long untagged = ClassLayout.parseInstance(share).instanceSize();
            long side = sizeOf("io.bulla.refcount.Attachment");
            long entry = sizeOf("io.bulla.refcount.LeaseLedger$Held");
            System.out.println("heap bytes: share=" + untagged + " tag=+" + side + " ledger=+" + (side + entry)
                    + " and its place in a skip list");
            assertTrue(untagged <= 32, "share=" + untagged);
            assertEquals(24, side, "tag");
            assertTrue(side + entry <= 100, "ledger=" + (side + entry));
        }
    }

    /// No part of [#untaggedShareIsOneObjectOfAtMost32Bytes]: paid once per buffer, not per share.
    @Test
    void bufferPaysForItsCountAndItsCellsOnce() throws ClassNotFoundException {
        defaultLayout();
        long count = sizeOf("io.bulla.buffer.Storage$One");
        long region = sizeOf("io.bulla.buffer.Block$Carved");
        long vector = sizeOf("io.bulla.iovec.OneRegion");
        long cells = sizeOf("io.bulla.refcount.Stripes")
                + GraphLayout.parseInstance((Object) new long[(4 + 1) * 16]).totalSize();
        System.out.println("heap bytes: count=" + count + " region=" + region + " vector=" + vector
                + " and the JDK's segment; striped over 4 cells=+" + cells);
        assertTrue(count + region + vector <= 96, "buffer=" + (count + region + vector));
        assertTrue(cells <= 680, "cells=" + cells);
    }

    private static long sizeOf(String type) throws ClassNotFoundException {
        return ClassLayout.parseClass(Class.forName(type)).instanceSize();
    }

    private static void defaultLayout() {
        assumeTrue(VM.current().objectHeaderSize() == 12, "default headers");
        assumeTrue(VM.current().sizeOfField("java.lang.Object") == 4, "compressed references");
    }
}
