// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.machine.Environment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Handlers that run on the event loop.
@Timeout(120)
class OnLoopTest {

    private static final int TAG = 70;
    private static final int OTHER = 71;

    @TempDir
    private Path folder;

    private final Cluster cluster = new Cluster();
    private final List<Integer> numbers = Collections.synchronizedList(new ArrayList<>());
    private final List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger inside = new AtomicInteger();

    // of node 1, once the test looks by hand
    private final AtomicLong ahead = new AtomicLong();
    private final AtomicReference<Runnable> look = new AtomicReference<>();
    private final AtomicInteger ended = new AtomicInteger();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    /// Writes down what came, and where; two at a time are an error.
    private void write(Message message) {
        assertEquals(1, inside.incrementAndGet());
        threads.add(Thread.currentThread());
        numbers.add(Cluster.number(message.buffer()));
        inside.decrementAndGet();
    }

    private static OobNodeBuilder patient(OobNodeBuilder setup) {
        return setup.peerTimeout(Duration.ofMinutes(10));
    }

    /// Gives node 1 a clock, and who watches its loop, that are the test's. Its heartbeat is so long that no real
    /// time makes a handler slow.
    private void watchByHand() throws Exception {
        Environment watched = new Environment(
                () -> System.nanoTime() + ahead.get(),
                Environment.MACHINE.random(),
                Environment.MACHINE.threads(),
                (nanos, by) -> {
                    look.set(by);
                    return ended::incrementAndGet;
                });
        cluster.replace(1, 2, setup -> {
            cluster.node(1).close();
            return patient(setup).environment(watched).heartbeat(Duration.ofHours(4));
        });
    }

    private Thread loop(int rank) throws Exception {
        return cluster.node(rank)
                .loop()
                .eventLoop()
                .submit(Thread::currentThread)
                .get();
    }

    private void await(int number) throws InterruptedException {
        Cluster.await("all are handled", () -> numbers.size() >= number);
        for (int i = 0; i < number; i++) {
            assertEquals(i, numbers.get(i), () -> "order: " + numbers);
        }
        assertEquals(number, numbers.size());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Send send(int from, int to, int number, int bytes) {
        return cluster.send(from, to, TAG, number, bytes, SendOptions.DEFAULT);
    }

    @Test
    void runsOnTheLoopInOrderFromTheFirstMessageOn() throws Exception {
        cluster.start(2, setup -> patient(setup).receive(TAG, MessageHandler.onLoop(this::write)));
        for (int i = 0; i < 200; i++) {
            send(0, 1, i, i % 7 == 0 ? 3000 : 10);
        }
        await(200);
        assertEquals(List.of(loop(1)), threads.stream().distinct().toList());
    }

    @Test
    void whatWaitsForTheOtherThreadIsHandledBefore() throws Exception {
        cluster.start(2, OnLoopTest::patient);
        OobNode node = cluster.node(1);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        node.receive(OTHER, message -> {
            begun.countDown();
            await(released);
        });
        // kept
        Cluster.delivered(send(0, 1, 0, 10));
        Cluster.await("kept", () -> node.unclaimedBytes() > 0);
        Cluster.delivered(cluster.send(0, 1, OTHER, 0, 10, SendOptions.DEFAULT));
        await(begun);
        // waits
        Cluster.delivered(send(0, 1, 1, 10));
        node.receive(TAG, MessageHandler.onLoop(this::write));
        for (int i = 2; i < 20; i++) {
            Cluster.delivered(send(0, 1, i, 10));
        }
        assertEquals(List.of(), numbers);
        released.countDown();
        await(20);
        // and from then on the loop runs it
        Cluster.await("free", () -> {
            numbers.clear();
            threads.clear();
            Cluster.deliveredNow(send(0, 1, 0, 10));
            return threads.size() == 1 && threads.getFirst() == loopNow(1);
        });
    }

    private Thread loopNow(int rank) {
        try {
            return loop(rank);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    @Test
    void messagesToItselfAreHandledOneAtATimeOnTheLoop() throws Exception {
        AtomicInteger left = new AtomicInteger(50);
        AtomicInteger next = new AtomicInteger(2);
        cluster.start(
                1,
                setup -> patient(setup).receive(TAG, MessageHandler.onLoop(message -> {
                    write(message);
                    if (left.decrementAndGet() > 0) {
                        inside.incrementAndGet();
                        send(0, 0, next.getAndIncrement(), 10);
                        inside.decrementAndGet();
                    }
                })));
        send(0, 0, 0, 10);
        send(0, 0, 1, 10);
        Cluster.await("all are handled", () -> numbers.size() == 51);
        assertEquals(List.of(loop(0)), threads.stream().distinct().toList());
    }

    @Test
    void whoReceivesOneMessageGetsItBeforeTheHandlerDoes() throws Exception {
        cluster.start(2, setup -> patient(setup).receive(TAG, MessageHandler.onLoop(this::write)));
        CompletableFuture<Message> once = cluster.node(1).receiveOnce(TAG).toCompletableFuture();
        send(0, 1, 77, 10);
        for (int i = 0; i < 10; i++) {
            send(0, 1, i, 10);
        }
        try (SealedBuffer first = once.get(20, TimeUnit.SECONDS).buffer()) {
            assertEquals(77, Cluster.number(first));
        }
        await(10);
    }

    @Test
    void callThatWouldWaitFailsAtOnceByName() throws Exception {
        BlockingQueue<String> said = new LinkedBlockingQueue<>();
        cluster.start(
                3,
                setup -> patient(setup).queuePerPeer(1, 1000).receive(TAG, MessageHandler.onLoop(message -> {
                    // of another node, too: that may wait for this one
                    for (OobNode node : List.of(cluster.node(1), cluster.node(2))) {
                        try {
                            node.sendBlocking(0, OTHER, message.buffer(), SendOptions.DEFAULT);
                            said.add("sent");
                        } catch (Exception refused) {
                            said.add(refused.getClass().getSimpleName() + " " + refused.getMessage());
                        }
                    }
                    int full = 0;
                    for (int i = 0; i < 3; i++) {
                        Send send = cluster.node(1).send(0, OTHER, message.buffer());
                        full += send.toCompletableFuture().isCompletedExceptionally() ? 1 : 0;
                    }
                    said.add("full " + full);
                })));
        send(0, 1, 1, 10);
        assertEquals(
                "IllegalStateException called on the event loop, which makes room: rank=1",
                said.poll(20, TimeUnit.SECONDS));
        assertEquals(
                "IllegalStateException called by a handler on an event loop, which must not wait: rank=2 peer=0",
                said.poll(20, TimeUnit.SECONDS));
        assertEquals("full 2", said.poll(20, TimeUnit.SECONDS));
    }

    @Test
    void handlerThatThrowsCostsTheMessagesBehindItNothing() throws Exception {
        cluster.start(
                2,
                setup -> patient(setup).receive(TAG, MessageHandler.onLoop(message -> {
                    write(message);
                    throw new Error("in a handler, as told");
                })));
        for (int i = 0; i < 20; i++) {
            send(0, 1, i, 10);
        }
        await(20);
        Cluster.line(cluster.log, "handler failed: rank=1 tag=" + TAG);
    }

    @Test
    void handlerThatHoldsUpTheLoopIsNamedAndGivenUp() throws Exception {
        cluster.start(2, OnLoopTest::patient);
        watchByHand();
        cluster.node(1).receive(TAG, MessageHandler.onLoop(message -> {
            write(message);
            // looks from outside, while it runs
            look.get().run();
            ahead.addAndGet(Duration.ofMinutes(59).toNanos());
            look.get().run();
            if (numbers.getLast() == 1) {
                ahead.addAndGet(Duration.ofMinutes(2).toNanos());
                look.get().run();
                look.get().run();
            }
        }));
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("bulla.HandlerBlocksLoop");
            recording.start();
            Cluster.delivered(send(0, 1, 0, 10));
            Cluster.await("handled", () -> numbers.size() == 1);
            Cluster.delivered(send(0, 1, 1, 10));
            Cluster.line(cluster.log, "handler blocks the event loop: rank=1 tag=70 millis=3660000");
            recording.stop();
            recording.dump(file);
        }
        for (int i = 2; i < 10; i++) {
            Cluster.delivered(send(0, 1, i, 10));
        }
        await(10);
        assertEquals(
                List.of("rank=1 tag=70 millis=3660000"),
                RecordingFile.readAllEvents(file).stream()
                        .filter(event -> event.getEventType().getName().equals("bulla.HandlerBlocksLoop"))
                        .map(event -> "rank=" + event.getInt("rank") + " tag=" + event.getInt("tag") + " millis="
                                + event.getLong("millis"))
                        .toList());
        assertSame(loop(1), threads.get(1));
        for (int i = 2; i < 10; i++) {
            assertNotSame(loop(1), threads.get(i));
        }
        assertEquals(1, ended.get(), "there is nothing to look at");
        assertFalse(cluster.log.stream().anyMatch(line -> line.startsWith("handler blocks")), "it is named once");
    }

    @Test
    void messageToItselfThatWaitedForAHandlerGivenUpDoesNotRunOnTheLoop() throws Exception {
        cluster.start(2, OnLoopTest::patient);
        watchByHand();
        OobNode node = cluster.node(1);
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        node.receive(OTHER, message -> thread.complete(Thread.currentThread()));
        cluster.send(1, 1, OTHER, 0, 10, SendOptions.DEFAULT);
        Thread other = thread.get(20, TimeUnit.SECONDS);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        node.receive(TAG, MessageHandler.onLoop(message -> {
            write(message);
            begun.countDown();
            await(released);
        }));
        send(0, 1, 0, 10);
        await(begun);
        send(1, 1, 1, 10);
        Cluster.await("waits for the loop", () -> other.getState() == Thread.State.WAITING && isAt(other, "waitFor"));
        look.get().run();
        ahead.addAndGet(Duration.ofHours(2).toNanos());
        look.get().run();
        released.countDown();
        await(2);
        assertEquals(List.of(loop(1), other), threads);
    }

    private static boolean isAt(Thread thread, String method) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals(method));
    }

    @Test
    void handlerThatTakesItsPlaceRunsAfterIt() throws Exception {
        cluster.start(2, OnLoopTest::patient);
        OobNode one = cluster.node(0);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        one.receive(OTHER, message -> thread.complete(Thread.currentThread()));
        one.receive(TAG, MessageHandler.onLoop(message -> {
            inside.incrementAndGet();
            begun.countDown();
            await(released);
            inside.decrementAndGet();
        }));
        cluster.send(0, 0, OTHER, 0, 10, SendOptions.DEFAULT);
        Thread other = thread.get(20, TimeUnit.SECONDS);
        send(1, 0, 0, 10);
        await(begun);
        one.receive(TAG, this::write);
        send(0, 0, 0, 10);
        // it waits for the loop, or has run
        Cluster.await("sleeps", () -> other.getState() == Thread.State.WAITING);
        assertEquals(List.of(), numbers);
        released.countDown();
        await(1);
    }

    @Test
    void noneRunsOnTheLoopWhileACutIsTaken() throws Exception {
        cluster.start(2, setup -> patient(setup).receive(TAG, MessageHandler.onLoop(this::write)));
        Cluster.delivered(send(1, 0, 0, 10));
        Cluster.await("handled", () -> numbers.size() == 1);
        List<Integer> saved = new ArrayList<>();
        NodeCut cut = cluster.node(0)
                .cut(() -> {
                    saved.addAll(numbers);
                    // they have arrived, and the loop had time for them
                    Cluster.deliveredNow(send(1, 0, 1, 10));
                    Cluster.deliveredNow(send(1, 0, 2, 3000));
                    assertEquals(saved, numbers);
                })
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
        try (cut) {
            assertEquals(List.of(0), saved);
            assertEquals(2, cut.arrived().size());
            await(3);
            cluster.node(0).abort();
            numbers.clear();
            cluster.replace(
                    0, 2, setup -> patient(setup).restore(cut).receive(TAG, MessageHandler.onLoop(this::write)));
            Cluster.await("what had arrived is handled", () -> numbers.size() == 2);
            assertEquals(List.of(1, 2), numbers);
        }
    }

    @Test
    void whatHadArrivedWhenACutWasTakenIsHandledBefore() throws Exception {
        cluster.start(
                2,
                setup -> patient(setup).receive(OTHER, message -> {}).receive(TAG, MessageHandler.onLoop(this::write)));
        NodeCut cut = cluster.node(0)
                .cut(() -> {
                    Cluster.deliveredNow(cluster.send(1, 0, OTHER, 0, 10, SendOptions.DEFAULT));
                    Cluster.deliveredNow(send(1, 0, 0, 10));
                })
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        try (cut) {
            await(1);
            cluster.node(0).abort();
            numbers.clear();
            cluster.replace(
                    0,
                    2,
                    setup -> patient(setup)
                            .restore(cut)
                            .receive(OTHER, message -> {
                                begun.countDown();
                                await(released);
                            })
                            .receive(TAG, MessageHandler.onLoop(this::write)));
            await(begun);
            Cluster.delivered(send(1, 0, 1, 10));
            assertEquals(List.of(), numbers);
            released.countDown();
            await(2);
        } finally {
            released.countDown();
        }
    }

    @Test
    void closeFromAHandlerOnTheLoopDoesNotWaitForItself() throws Exception {
        cluster.start(
                2,
                setup -> patient(setup).receive(TAG, MessageHandler.onLoop(message -> {
                    cluster.node(1).close();
                    write(message);
                })));
        send(0, 1, 0, 10);
        await(1);
        cluster.node(1).close();
        assertTrue(cluster.node(1).stats().isEmpty());
    }

    @Test
    void handlerThatIsTakenAwayLeavesItsMessages() throws Exception {
        cluster.start(2, setup -> patient(setup).receive(TAG, MessageHandler.onLoop(this::write)));
        Cluster.delivered(send(0, 1, 0, 10));
        await(1);
        cluster.node(1).stopReceiving(TAG);
        Cluster.delivered(send(0, 1, 1, 10));
        Cluster.await("kept", () -> cluster.node(1).unclaimedBytes() > 0);
        cluster.node(1).receive(TAG, MessageHandler.onLoop(this::write));
        send(0, 1, 2, 10);
        await(3);
    }
}
