// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A thread waits for room in the queue, and ends its wait in no other way than it should.
class BlockingSendTest {

    private static final int MESSAGES = 2;
    private static final int BYTES = 1000;

    private final Cluster cluster = new Cluster();
    // while it is false, node 1 cannot be reached and nothing leaves the queue
    private volatile boolean known;

    @BeforeEach
    void peerThatIsNotFoundYet() throws Exception {
        cluster.directory = peer -> known ? cluster.address(peer) : null;
        cluster.start(2, setup -> setup.queuePerPeer(MESSAGES, BYTES).peerTimeout(Duration.ofMinutes(10)));
    }

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    /// A thread's call, and the thread.
    private final class Call {

        private final FutureTask<Send> send;
        private final Thread thread;

        Call(int number, int bytes, SendOptions options) {
            send = new FutureTask<>(() -> {
                try (SealedBuffer message = cluster.numbered(number, bytes)) {
                    return cluster.node(0).sendBlocking(1, Cluster.TAG, message, options);
                }
            });
            thread = Thread.ofVirtual().start(send);
        }

        /// It does not turn in a circle, it sleeps.
        Call waits() throws InterruptedException {
            Cluster.await("the call waits", () -> thread.getState() == Thread.State.WAITING);
            assertFalse(send.isDone());
            return this;
        }

        Throwable thrown() throws Exception {
            return assertThrows(ExecutionException.class, () -> send.get(10, TimeUnit.SECONDS))
                    .getCause();
        }
    }

    private Send[] full() {
        return new Send[] {cluster.send(0, 1, 0, 100), cluster.send(0, 1, 1, 100)};
    }

    private long queued() {
        return cluster.node(0).stats().getFirst().queuedMessages();
    }

    @Test
    void callGoesOnWhenThereIsRoom() throws Exception {
        full();
        Call call = new Call(2, 100, SendOptions.DEFAULT).waits();
        assertEquals(MESSAGES, queued());
        known = true;
        Cluster.delivered(call.send.get(10, TimeUnit.SECONDS));
        for (int i = 0; i <= MESSAGES; i++) {
            assertEquals("1 from 0: " + i, cluster.next());
        }
    }

    @Test
    void manyThreadsSendMuchMoreThanTheQueueHolds() throws Exception {
        Call[] calls = new Call[200];
        for (int i = 0; i < calls.length; i++) {
            calls[i] = new Call(i, 100, SendOptions.DEFAULT);
        }
        known = true;
        for (Call call : calls) {
            Cluster.delivered(call.send.get(10, TimeUnit.SECONDS));
        }
        Cluster.await("all are handled", () -> cluster.got.size() == calls.length);
    }

    @Test
    void messageThatNeedsMoreThanHalfTheQueueWaitsUntilItFits() throws Exception {
        Send first = cluster.send(0, 1, 0, 400);
        Call call = new Call(1, 800, SendOptions.DEFAULT).waits();
        assertTrue(first.cancel());
        Send second = call.send.get(10, TimeUnit.SECONDS);
        Call over = new Call(2, 2 * BYTES, SendOptions.DEFAULT).waits();
        known = true;
        Cluster.delivered(second);
        Cluster.delivered(over.send.get(10, TimeUnit.SECONDS));
    }

    @Test
    void interruptEndsTheWaitAndNothingWasQueued() throws Exception {
        full();
        Call call = new Call(2, 100, SendOptions.DEFAULT).waits();
        call.thread.interrupt();
        assertInstanceOf(InterruptedException.class, call.thrown());
        assertEquals(MESSAGES, queued());
        known = true;
        assertEquals("1 from 0: 0", cluster.next());
        assertEquals("1 from 0: 1", cluster.next());
        // the interrupted one is not among them
        Cluster.delivered(new Call(3, 100, SendOptions.DEFAULT).send.get(10, TimeUnit.SECONDS));
        assertEquals("1 from 0: 3", cluster.next());
    }

    @Test
    void deadlineEndsTheWaitAndNothingWasQueued() throws Exception {
        full();
        Throwable late = new Call(2, 100, SendOptions.DEFAULT.within(Duration.ofMillis(20))).thrown();
        assertInstanceOf(TimeoutException.class, late);
        assertTrue(late.getMessage().startsWith("deadline has passed: peer=1 tag=5 bytes=100 millis=20"));
        assertEquals(MESSAGES, queued());
    }

    @Test
    void closeEndsTheWait() throws Exception {
        full();
        Call call = new Call(2, 100, SendOptions.DEFAULT).waits();
        cluster.node(0).close();
        assertInstanceOf(PeerFailedException.class, Cluster.failure(call.send.get(10, TimeUnit.SECONDS)));
        Call late = new Call(3, 100, SendOptions.DEFAULT);
        assertInstanceOf(PeerFailedException.class, Cluster.failure(late.send.get(10, TimeUnit.SECONDS)));
    }

    @Test
    void whoMakesRoomMayNotWaitForIt() throws Exception {
        CompletableFuture<Throwable> handler = new CompletableFuture<>();
        cluster.node(0).receive(9, message -> handler.complete(thrown(0)));
        cluster.send(0, 0, 9, 1, 100, SendOptions.DEFAULT);
        assertEquals(
                "called by a handler, which makes room for messages to its own node: rank=0",
                handler.get(10, TimeUnit.SECONDS).getMessage());
        // the directory is asked on the loop
        CompletableFuture<Throwable> loop = new CompletableFuture<>();
        cluster.directory = peer -> {
            loop.complete(thrown(1));
            return cluster.address(peer);
        };
        Cluster.delivered(cluster.send(0, 1, 2, 100));
        assertEquals(
                "called on the event loop, which makes room: rank=0",
                loop.get(10, TimeUnit.SECONDS).getMessage());
    }

    private Throwable thrown(int peer) {
        try (SealedBuffer message = cluster.numbered(7, 100)) {
            cluster.node(0).sendBlocking(peer, 3, message, SendOptions.DEFAULT);
            return null;
        } catch (IllegalStateException | InterruptedException | TimeoutException thrown) {
            return thrown;
        }
    }
}
