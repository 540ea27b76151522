// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.IoVec;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.RefCount;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.util.List;

/// What [LockFreedomTest] suspends: one thread works for ever on fresh buffers; for each byte on standard input,
/// two others work on the same buffer and on the same source until they are done, and say so.
final class ShareForEver {

    static final String VICTIM = "victim";
    static final String READY = "ready";
    static final String DONE = "done";
    private static final int ROUNDS = 100;

    private static final ArenaSource PLAIN = ArenaSource.create();
    private static final ArenaSource TRACED =
            ArenaSource.create(MemoryBudget.ofProcess(), LeaseLedger.full().onLeak(lost -> {}));
    private static final MemorySource STAMPED =
            new Untraced(ArenaSource.builder().safety(Safety.CHECKED).build());
    private static volatile SealedBuffer[] common = {};
    private static volatile long rounds;

    /// Stamped memory whose handles no listener hears of, as a pool's: a view is the region and its stamp alone.
    private record Untraced(ArenaSource memory) implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
            return memory.allocate(byteSize);
        }
    }

    private ShareForEver() {}

    public static void main(String... none) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(3);
        });
        Thread.ofPlatform().daemon().name(VICTIM).start(ShareForEver::workForEver);
        while (rounds < 50) {
            Thread.sleep(1);
        }
        others();
        System.out.println(READY);
        while (System.in.read() >= 0) {
            others();
            System.out.println(DONE);
        }
    }

    private static void workForEver() {
        SealedBuffer previous = Bytes.sealed(PLAIN, 1000);
        while (true) {
            work(PLAIN);
            work(TRACED);
            work(STAMPED);
            // the one before it may be the last of a block that is used up
            SealedBuffer next = Bytes.sealed(PLAIN, 1000);
            previous.close();
            previous = next;
            rounds++;
        }
    }

    private static void work(MemorySource source) {
        SealedBuffer first = Bytes.sealed(source, 1000);
        for (SealedBuffer untagged : first.shares(2)) {
            untagged.share().close();
            untagged.close();
        }
        SealedBuffer[] fan = first.shares(32, "fan");
        SealedBuffer[] theirs = {fan[30], fan[31]};
        common = theirs;
        stripe(first);
        use(first);
        SealedBuffer slice = first.slice(10, 100);
        slice.iovec().get(ValueLayout.JAVA_BYTE, 0);
        first.close();
        for (int i = 0; i < fan.length; i++) {
            if (i < 30) {
                use(fan[i]);
            }
            fan[i].close();
        }
        slice.close();
        // the last close of a chunk: a region with an arena of its own
        Bytes.sealed(source, 300_000).close();
    }

    private static void use(SealedBuffer handle) {
        SealedBuffer share = handle.share("use");
        IoVec view = share.iovec();
        view.get(ValueLayout.JAVA_BYTE, 7);
        view.get(ValueLayout.JAVA_SHORT_UNALIGNED, 7);
        view.get(ValueLayout.JAVA_INT_UNALIGNED, 7);
        view.get(ValueLayout.JAVA_LONG_UNALIGNED, 7);
        share.close();
    }

    private static void others() throws InterruptedException {
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            SealedBuffer[] now = common;
            SealedBuffer theirs = now[i];
            threads[i] = Thread.ofPlatform().start(() -> {
                for (int n = 0; n < ROUNDS; n++) {
                    try {
                        use(theirs);
                    } catch (ReleasedBufferException closedByTheVictim) {
                        // it was suspended at the end of its round
                    }
                    // on the same source, down to the last close, now and then of a whole chunk
                    SealedBuffer own = Bytes.sealed(PLAIN, n % 10 == 0 ? 300_000 : 1000);
                    use(own);
                    own.close();
                    for (MemorySource source : List.of(TRACED, STAMPED)) {
                        own = Bytes.sealed(source, 1000);
                        use(own);
                        own.close();
                    }
                }
                theirs.close();
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /// By reflection, for it happens by contention only, and the method is not public.
    private static void stripe(SealedBuffer buffer) {
        try {
            Method count = Lease.class.getDeclaredMethod("count");
            Method stripe = RefCount.class.getDeclaredMethod("stripe");
            count.setAccessible(true);
            stripe.setAccessible(true);
            stripe.invoke(count.invoke(buffer));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
