// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fuzz.Slope;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Star;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/// A node under siege by rank 0, whose connections the node never seeks.
public final class SiegeNode implements AutoCloseable {

    static final int RANK = 1;
    private static final int MEMBER = 0;
    private static final int NODES = 3;
    private static final int TAG = 5;
    private static final int MANY = 1 << 20;
    private static final int EACH = 256;
    private static final long PATIENCE_SECONDS = 60;

    // kept here, for an unreferenced logger is forgotten with its level
    private static final Logger LOG = Logger.getLogger(OobNode.class.getName());

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.create(MemoryBudget.unlimited(), handles);
    private final OobNode node;
    private final Semaphore fences = new Semaphore(0);

    /// Starts it.
    ///
    /// @param handler of each message; a planted leak, if it keeps something
    /// @throws IOException if it cannot listen
    public SiegeNode(Runnable handler) throws IOException {
        // each refusal would be a line
        LOG.setLevel(Level.OFF);
        node = OobNode.builder(RANK, NODES)
                .memory(memory)
                .security(Security.plaintext())
                .directory(peer -> null)
                .routing(new Star())
                .connections(new ConnectionLimits(MANY, MANY, MANY))
                .peerTimeout(Duration.ofMinutes(10))
                .heartbeat(Duration.ofMinutes(1))
                .helloDeadline(Duration.ofMinutes(1))
                .receive(TAG, message -> handler.run())
                .receive(SiegeRow.FENCE, message -> fences.release())
                .start();
    }

    /// Handles that are open now.
    ///
    /// @return 0 if all is given back
    public long handles() {
        return handles.open();
    }

    /// What a member that has said hello says, on one connection, or, if that ends it, on one for each.
    ///
    /// @throws Exception if the node does something else
    void member(SiegeRow row, long repetitions, long ending, Slope slope) throws Exception {
        try (SiegeTalk talk = greeted()) {
            if (row.isOfBroadcast()) {
                broadcast();
                talk.awaitBroadcast();
            }
            row.words().say(talk, 0);
            if (fence(talk)) {
                lasting(row, talk, repetitions, slope);
                return;
            }
        }
        slope.measure(row.name() + " that ends the connection", ending, true, this::handles, (from, to) -> {
            for (long i = from; i < to; i++) {
                try (SiegeTalk talk = greeted()) {
                    row.words().say(talk, i);
                    talk.awaitEnd();
                }
            }
        });
    }

    private void lasting(SiegeRow row, SiegeTalk talk, long repetitions, Slope slope) throws Exception {
        slope.measure(row.name(), repetitions, false, this::handles, (from, to) -> {
            for (long i = from; i < to; i++) {
                row.words().say(talk, i + 1);
                if (row.acknowledges() && i % EACH == 0) {
                    // as far as the node is, which else may have to say so much that it takes no more
                    fenceOf(row, talk);
                    talk.acknowledge();
                }
            }
            fenceOf(row, talk);
            if (row.acknowledges()) {
                talk.acknowledge();
                fence(talk);
            }
        });
    }

    private void fenceOf(SiegeRow row, SiegeTalk talk) throws IOException, InterruptedException {
        if (!fence(talk)) {
            throw new IOException("the connection ended: " + row.name());
        }
    }

    /// What a peer says that has not said hello.
    ///
    /// @throws Exception if the node does something else
    void unknownPeer(SiegeRow row, long ending, Slope slope) throws Exception {
        slope.measure(row.name(), ending, true, this::handles, (from, to) -> {
            for (long i = from; i < to; i++) {
                try (SiegeTalk talk = new SiegeTalk(node.address(), MEMBER)) {
                    row.words().say(talk, i);
                    talk.awaitEnd();
                }
            }
        });
    }

    /// One that never ends: a third rank never comes.
    private void broadcast() {
        try (BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer empty = builder.seal()) {
            node.broadcast(TAG, empty);
        }
    }

    private SiegeTalk greeted() throws IOException {
        return new SiegeTalk(node.address(), MEMBER).greet(NODES);
    }

    /// A message behind all that was said has been handled.
    ///
    /// @return false if the node has ended the connection
    private boolean fence(SiegeTalk talk) throws InterruptedException {
        try {
            talk.control(Frame.Kind.RESUME, 0);
            talk.sequenced(Frame.Kind.DIRECT, SiegeRow.FENCE, MEMBER, 0, 0, Lane.SMALL);
            talk.flush();
        } catch (IOException ended) {
            return false;
        }
        for (long wait = 0; wait < TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS) / 10; wait++) {
            if (fences.tryAcquire(10, TimeUnit.MILLISECONDS)) {
                return true;
            }
            if (talk.isOver()) {
                return false;
            }
        }
        throw new IllegalStateException("no answer");
    }

    @Override
    public void close() {
        node.close();
        memory.close();
    }
}
