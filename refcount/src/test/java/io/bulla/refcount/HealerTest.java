// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.refcount.internal.OwnThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/// The thread that heals belongs to no caller, and nothing ends it.
class HealerTest {

    private static void forget(Claim of) {
        of.share("forgotten");
    }

    private static void healsOne() throws InterruptedException {
        LeaseLedger ledger = LeaseLedger.full().onLeak(lost -> {});
        Counted thing = new Counted(ledger);
        Claim kept = Claim.first(thing, null);
        forget(kept);
        for (int i = 0; i < 1500 && ledger.healed() == 0; i++) {
            System.gc();
            Thread.sleep(10);
        }
        assertEquals(1, ledger.healed());
        assertEquals(1, thing.holders());
        kept.close();
    }

    private static ThreadGroup rootGroup() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        return root;
    }

    private static Thread healer() {
        Thread[] all = new Thread[1000];
        int count = rootGroup().enumerate(all);
        for (int i = 0; i < count; i++) {
            if (all[i].getName().equals(Healer.NAME)) {
                return all[i];
            }
        }
        return null;
    }

    @Test
    void interruptDoesNotEndTheHealing() throws InterruptedException {
        healsOne();
        for (int i = 0; i < 3; i++) {
            healer().interrupt();
            healsOne();
        }
    }

    @Test
    void callersGroupAndClassLoaderAreNotTheThreads() throws InterruptedException {
        InheritableThreadLocal<String> inherited = new InheritableThreadLocal<>();
        AtomicReference<String> seen = new AtomicReference<>();
        AtomicReference<Thread> made = new AtomicReference<>();
        Thread caller = new Thread(new ThreadGroup("caller"), () -> {
            inherited.set("caller's");
            Thread.currentThread().setContextClassLoader(new ClassLoader() {});
            Thread.currentThread().setPriority(Thread.MIN_PRIORITY);
            made.set(OwnThread.of(Healer.NAME, () -> seen.set(inherited.get())));
        });
        caller.setDaemon(false);
        caller.start();
        caller.join();
        Thread fresh = made.get();
        assertSame(rootGroup(), fresh.getThreadGroup());
        assertSame(ClassLoader.getSystemClassLoader(), fresh.getContextClassLoader());
        assertEquals(Thread.NORM_PRIORITY, fresh.getPriority());
        assertTrue(fresh.isDaemon());
        fresh.start();
        fresh.join();
        assertEquals(null, seen.get());
        healsOne();
        assertNotNull(healer());
        assertSame(ClassLoader.getSystemClassLoader(), healer().getContextClassLoader());
    }

    /// Opening a lease goes on without the thread, whatever its start throws, and a second later starts it again.
    @Test
    void threadThatCannotStartIsStartedASecondLater() throws InterruptedException {
        AtomicLong nanos = new AtomicLong(5);
        List<Thread> started = new ArrayList<>();
        AtomicInteger tries = new AtomicInteger();
        Healer healer = new Healer(
                thread -> {
                    if (tries.incrementAndGet() <= 2) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    started.add(thread);
                    thread.start();
                },
                nanos::get);
        assertNotNull(healer.queue());
        assertEquals(1, tries.get(), "at once");
        nanos.addAndGet(999_999_999);
        assertNotNull(healer.queue());
        assertEquals(1, tries.get(), "tried again within the second");
        nanos.addAndGet(1);
        assertNotNull(healer.queue());
        assertEquals(2, tries.get());
        nanos.addAndGet(1_000_000_000);
        assertNotNull(healer.queue());
        assertNotNull(healer.queue());
        assertEquals(3, tries.get());
        assertEquals(1, started.size());
        assertTrue(started.getFirst().isAlive());
    }
}
