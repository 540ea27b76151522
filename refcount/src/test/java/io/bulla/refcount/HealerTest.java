// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
            made.set(Healer.newThread(() -> seen.set(inherited.get())));
        });
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
}
