// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.SlabSupplier;
import io.bulla.registration.PinBudget;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.fabric.FailingLibfabric.Mode;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultScene;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A device, the memory that its messages land in, and lines whose both ends it has; all of it is given back by the
/// scene.
final class BulkWorld {

    static final String PROVIDER = "tcp;ofi_rxm";
    static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int BYTES = 300;

    interface Step {
        void run() throws Exception;
    }

    final SlabSource memory;
    final PinBudget pins = new PinBudget(64 << 20);
    private final FaultScene scene;
    private final FailingLibfabric calls;
    private final SealedBuffer message;
    private final Thread loop = Thread.currentThread();
    private final List<End> ends = new CopyOnWriteArrayList<>();
    private final AtomicInteger written = new AtomicInteger();
    private final AtomicInteger verdicts = new AtomicInteger();
    private @Nullable FabricBulk bulk;
    private @Nullable BulkLanding landing;
    private @Nullable CompletableFuture<Void> underWay;
    // volatile: of any thread
    private volatile boolean over;

    BulkWorld(FaultScene scene, Mode mode) {
        this.scene = scene;
        scene.points().everyThread();
        scene.mayTake(64 << 20);
        message = scene.buffer(BYTES);
        calls = new FailingLibfabric(scene, mode);
        FailingLibfabric.watch(calls);
        MemoryBudget budget = new MemoryBudget(64 << 20);
        memory = SlabSource.builder()
                .budget(budget)
                .trace(scene.trace())
                .supplier(bytes -> {
                    scene.points().reach("SlabSupplier.take");
                    return SlabSupplier.arenas().take(bytes);
                })
                .build();
        scene.ownLast(this::end);
        scene.owed("bytes booked by the pool", budget::used);
        scene.owed("bytes pinned", pins::used);
        scene.owed("writes without one verdict", () -> Math.abs(written.get() - verdicts.get()));
        scene.owed(
                "lines told twice",
                () -> ends.stream().filter(each -> each.told.get() > 1).count());
        scene.owed("threads of the fabric", BulkWorld::threads);
    }

    /// With a device.
    BulkWorld opened() throws IOException {
        FabricBulk opened = FabricBulk.open(PROVIDER, memory, pins, PATIENCE);
        bulk = opened;
        scene.owed("marks", () -> opened.registrations().figures().marks());
        scene.callBack("bulk.figures", opened::toString);
        callBack("bulk.open", () -> opened.open("another", why -> {}).close());
        ending("bulk.close", opened::close);
        ending("registrations.close", () -> opened.registrations().close());
        // lines and landings are one thread's
        for (int i = 0; i < 2; i++) {
            int at = i;
            ending(i == 0 ? "writer.close" : "reader.close", () -> {
                if (Thread.currentThread() == loop && ends.size() > at) {
                    ends.get(at).close();
                }
            });
        }
        ending("landing.close", () -> {
            BulkLanding one = landing;
            if (Thread.currentThread() == loop && one != null) {
                one.close();
            }
        });
        return this;
    }

    /// With a device that is in the middle of a message.
    BulkWorld busy() throws Exception {
        FabricBulk opened = opened().bulk();
        Member open = (receiver, arguments) -> opened.open("peer", (End) arguments[1]);
        End from = open(open);
        End to = open(open);
        connect(from, to);
        BulkLanding into = to.line().land(BYTES);
        landing = into;
        underWay = write(from, into);
        return this;
    }

    /// Calls count and fail from here on.
    BulkWorld ready() {
        calls.begin();
        return this;
    }

    /// An operation has opened a device.
    FabricBulk opened(FabricBulk one) {
        scene.own(one);
        return one;
    }

    FabricBulk bulk() {
        FabricBulk opened = bulk;
        if (opened == null) {
            throw new IllegalStateException("no device");
        }
        return opened;
    }

    /// What an operation says when it fails.
    @Nullable
    Object run(BulkCalls.Use use) throws Exception {
        try {
            return use.on(this);
        } catch (Exception failure) {
            throw asOver(calls.named(failure));
        } catch (Error failure) {
            throw calls.named(failure);
        }
    }

    /// Two messages, each with a verdict: one is sealed, the other one is given up.
    Object carry(Member open) throws Exception {
        int first = ends.size();
        try {
            End from = open(open);
            End to = open(open);
            connect(from, to);
            for (boolean sealed : new boolean[] {true, false}) {
                try (BulkLanding into = to.line().land(BYTES)) {
                    landing = into;
                    deliver(from, to, into);
                    if (sealed) {
                        check(into);
                    }
                }
            }
        } finally {
            for (End each : ends.subList(first, ends.size()).reversed()) {
                each.close();
            }
        }
        return "carried";
    }

    /// What was under way when the device ended has a verdict, whichever.
    void awaitVerdict() throws Exception {
        CompletableFuture<Void> one = underWay;
        if (one != null) {
            try {
                verdict(one);
            } catch (IOException | TimeoutException failed) {
                // not written
            }
        }
    }

    End open(Member open) throws Exception {
        End end = new End();
        ends.add(end);
        end.line = (BulkLine) open.on(bulk(), "peer", end);
        return end;
    }

    private static void connect(End from, End to) throws IOException {
        from.line().connect(to.line().address());
        to.line().connect(from.line().address());
    }

    private CompletableFuture<Void> write(End from, BulkLanding into) throws IOException {
        CompletableFuture<Void> verdict =
                from.line().write(message, into.key(), into.target()).toCompletableFuture();
        written.incrementAndGet();
        return verdict.whenComplete((done, failure) -> {
            verdicts.incrementAndGet();
            scene.points().reach("CompletionStage.whenComplete");
        });
    }

    private void deliver(End from, End to, BulkLanding into) throws Exception {
        CompletableFuture<Void> verdict;
        try {
            verdict = write(from, into);
        } catch (IOException refused) {
            // of a line that has failed before
            IOException why = from.failed.getNow(refused);
            if (why != refused) {
                why.addSuppressed(refused);
            }
            throw why;
        }
        await(verdict, from, to);
    }

    /// As a node does: a line that fails is closed, on the loop.
    private void await(CompletableFuture<Void> write, End from, End to) throws Exception {
        if (over) {
            // of what goes to a peer that has ended not every fabric says that it failed
            from.close();
        }
        try {
            CompletableFuture.anyOf(write, from.failed, to.failed).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            // below
        } catch (TimeoutException never) {
            throw new AssertionError("a write has no verdict, and its line has not failed", never);
        }
        IOException why = from.failed.getNow(to.failed.getNow(null));
        if (why == null) {
            verdict(write);
            return;
        }
        from.close();
        try {
            verdict(write);
        } catch (IOException | TimeoutException canceled) {
            why.addSuppressed(canceled);
        }
        throw why;
    }

    private static void verdict(CompletableFuture<Void> write) throws Exception {
        try {
            write.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            switch (failed.getCause()) {
                case Exception cause -> throw cause;
                case Error cause -> throw cause;
                case null, default -> throw failed;
            }
        } catch (TimeoutException never) {
            throw new AssertionError("a write has no verdict", never);
        }
    }

    private static void check(BulkLanding into) throws IOException {
        try (SealedBuffer arrived = into.seal()) {
            if (!Arrays.equals(FaultScene.bytes(BYTES, 1), arrived.toByteArray())) {
                throw new AssertionError("other bytes arrived: " + arrived);
            }
        }
    }

    private void callBack(String name, Step step) {
        scene.callBack(name, () -> {
            try {
                step.run();
            } catch (RuntimeException refused) {
                throw (RuntimeException) asOver(refused);
            } catch (Exception refused) {
                throw new IllegalStateException("over already: " + refused.getMessage(), refused);
            }
        });
    }

    private void ending(String name, Step step) {
        callBack(name, () -> {
            over = true;
            step.run();
        });
    }

    /// Of a device or a line that was ended by what was called back, its exceptions say so.
    private Exception asOver(Exception failure) {
        boolean says = failure instanceof IOException
                || failure instanceof TimeoutException
                || String.valueOf(failure.getMessage()).contains("registrations are closed");
        return over && says ? new IllegalStateException("over already: " + failure.getMessage(), failure) : failure;
    }

    private void end() throws InterruptedException {
        ends.forEach(End::close);
        if (bulk != null) {
            bulk.close();
        }
        memory.close(PATIENCE);
    }

    /// Those that do not end.
    private static long threads() {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            List<Thread> left = Thread.getAllStackTraces().keySet().stream()
                    .filter(each -> each.getName().startsWith("bulla-fabric-"))
                    .toList();
            if (left.isEmpty() || System.nanoTime() - end > 0) {
                return left.size();
            }
            Thread.yield();
        }
    }

    /// One end of a line, and what it was told.
    final class End implements Consumer<IOException> {

        private final CompletableFuture<IOException> failed = new CompletableFuture<>();
        private final AtomicInteger told = new AtomicInteger();
        private @Nullable BulkLine line;

        BulkLine line() {
            BulkLine opened = line;
            if (opened == null) {
                throw new IllegalStateException("not open");
            }
            return opened;
        }

        @Override
        public void accept(IOException why) {
            told.incrementAndGet();
            failed.complete(why);
            scene.points().reach("Consumer.accept");
        }

        void close() {
            if (line != null) {
                line.close();
            }
        }
    }
}
