// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseLedger;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.CountingSource;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/// The garbage collector helps with the freeing: it frees what somebody frees too, or still reads.
///
/// Chronicle-Bytes#157: a finalizer and a releasing thread both free. Agrona 59cf98e6: a wrapper that keeps
/// an address only does not keep the memory.
class TwoWhoFreeTest {

    private static final byte[] MESSAGE = Bytes.numbered(23, 200);

    private final List<Object> leaked = new CopyOnWriteArrayList<>();
    private final LeaseLedger ledger = LeaseLedger.full().onLeak(holder -> leaked.add(String.valueOf(holder.tag())));
    private final CountingSource source = new CountingSource(ledger);

    @Test
    void finalizerAndHolderBothRelease() {
        class Store {
            private int count = 2;

            void release() {
                count--;
            }
        }
        Store store = new Store();
        Runnable finalizer = store::release;
        store.release();
        finalizer.run();
        assertEquals(0, store.count, "freed, though another holder never let go");
    }

    @Test
    void forgottenHandleIsHealedOnceAndOnlyItsOwnClaim() {
        SealedBuffer kept = Bytes.seal(source, MESSAGE);
        forget(kept);
        until(() -> ledger.healed() == 1);
        assertEquals(List.of("forgotten"), leaked);
        assertEquals(0, source.givenBack());
        assertEquals(1, kept.holders());
        assertArrayEquals(MESSAGE, Bytes.of(kept));
        kept.close();
        assertEquals(1, source.givenBack());
    }

    @Test
    void closedHandleIsNotHealed() {
        for (int i = 0; i < 100; i++) {
            Bytes.seal(source, MESSAGE).close();
        }
        forget(Bytes.seal(source, MESSAGE));
        until(() -> ledger.healed() == 2);
        assertEquals(101, source.givenBack());
        assertEquals(2, ledger.healed());
        assertEquals(List.of(), ledger.open());
    }

    @Test
    void vectorKeepsItsHandleFromBeingTakenForForgotten() {
        IoVec vector = Bytes.seal(source, MESSAGE).iovec().slice(10, 100);
        forget(Bytes.seal(source, MESSAGE));
        until(() -> ledger.healed() == 2);
        assertEquals(1, source.givenBack());
        assertArrayEquals(Bytes.numbered(33, 100), Bytes.of(vector));
        Reference.reachabilityFence(vector);
    }

    @Test
    void adoptedMemoryIsKeptAsLongAsAVectorOfIt() {
        ByteBuffer direct =
                ByteBuffer.allocateDirect(MESSAGE.length).put(MESSAGE).flip();
        WeakReference<ByteBuffer> memory = new WeakReference<>(direct);
        WeakReference<ByteBuffer> addressOnly = new WeakReference<>(ByteBuffer.allocateDirect(MESSAGE.length));
        SealedBuffer buffer = SealedBuffer.adopt(MemorySegment.ofBuffer(direct), () -> {});
        direct = null;
        IoVec vector = buffer.iovec().slice(10, 100);
        until(() -> addressOnly.get() == null);
        assertTrue(memory.get() != null);
        assertArrayEquals(Bytes.numbered(33, 100), Bytes.of(vector));
        Reference.reachabilityFence(vector);
        buffer.close();
        assertNull(direct);
    }

    private static void forget(SealedBuffer buffer) {
        buffer.share("forgotten");
    }

    private static void until(BooleanSupplier done) {
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!done.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadline, "not in 20 s");
            System.gc();
            sleep();
        }
        System.gc();
        sleep();
    }

    private static void sleep() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
