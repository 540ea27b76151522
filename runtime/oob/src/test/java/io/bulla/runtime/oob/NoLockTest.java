// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Whatever user code runs, and wherever it was called from, no lock of the library is held: another thread gets
/// through every call of the same node meanwhile.
class NoLockTest {

    private static final int ASKED = 6;
    private static final int QUIET = 7;
    private static final int NEVER_SENT = 8;
    private static final int KEPT = 9;

    private final Cluster cluster = new Cluster();
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    /// Waits, inside user code, for a thread that calls everything which needs no answer of the event loop.
    private void whileAnotherCalls(int rank, String where) {
        Thread other = Thread.ofPlatform().daemon().start(() -> callEverything(cluster.node(rank), 1 - rank));
        try {
            told.add(where + (other.join(Duration.ofSeconds(10)) ? " free" : " locked"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void callEverything(OobNode node, int peer) {
        try (SealedBuffer message = cluster.numbered(1, 100)) {
            node.receive(QUIET, ignored -> {});
            node.receiveOnce(NEVER_SENT).toCompletableFuture().cancel(false);
            node.peek(NEVER_SENT);
            node.send(node.rank(), QUIET, message);
            node.send(peer, QUIET, message).cancel();
            node.trySend(peer, QUIET, message, SendOptions.DEFAULT);
            node.broadcast(QUIET, message);
            node.room(peer);
            node.unclaimedBytes();
        }
    }

    private String next() throws InterruptedException {
        return told.poll(20, TimeUnit.SECONDS);
    }

    @Test
    void otherThreadsGetThroughWhileUserCodeRuns() throws Exception {
        cluster.start(2, setup -> setup.onPeerLost((peer, why) -> whileAnotherCalls(0, "listener")));
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        cluster.node(1).receive(ASKED, message -> whileAnotherCalls(1, "handler"));
        cluster.send(0, 1, ASKED, 1, 100, SendOptions.DEFAULT);
        assertEquals("handler free", next());
        cluster.node(1).receiveOnce(ASKED).thenAccept(message -> {
            message.buffer().close();
            whileAnotherCalls(1, "once");
        });
        // its stage completes on the event loop
        cluster.send(0, 1, ASKED, 2, 100, SendOptions.DEFAULT)
                .thenAccept(delivery -> whileAnotherCalls(0, "completion"));
        assertEquals(Set.of("once free", "completion free"), Set.of(next(), next()));
        // and this one on the caller's thread, inside send itself
        cluster.send(0, 0, QUIET, 3, 100, SendOptions.DEFAULT).thenAccept(delivery -> whileAnotherCalls(0, "self"));
        assertEquals("self free", next());
        cluster.node(1).close();
        assertEquals("listener free", next());
    }

    @Test
    void otherThreadsGetThroughWhileAListenerHearsOfAPeek() throws Exception {
        cluster.start(2);
        AtomicBoolean peeks = new AtomicBoolean();
        LeaseTrace listener = new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, Object tag) {
                if (peeks.getAndSet(false)) {
                    whileAnotherCalls(0, "peek");
                }
                return lease;
            }

            @Override
            public void closed(Lease lease, Object traced) {}
        };
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), listener);
                BufferBuilder builder = BufferBuilder.create(source);
                SealedBuffer message = builder.putInt(1).seal()) {
            cluster.node(0).send(0, KEPT, message);
            Cluster.await("it is kept", () -> cluster.node(0).unclaimedBytes() > 0);
            peeks.set(true);
            cluster.node(0).peek(KEPT).orElseThrow().buffer().close();
            assertEquals("peek free", next());
            cluster.node(0).receiveOnce(KEPT).thenAccept(kept -> kept.buffer().close());
        }
    }
}
