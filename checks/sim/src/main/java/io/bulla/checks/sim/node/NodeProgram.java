// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.sim.schedule.Program;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/// What the program of one life of a node does with messages, and what is in those that it sends.
final class NodeProgram {

    private final Simulation simulation;
    private final SimNode node;
    private final long onLoop;
    private final Set<Integer> running = new HashSet<>();
    // tags whose handler has held up the loop
    private final Set<Integer> givenUp = new HashSet<>();
    // from outside, at what runs on the loop
    private Runnable look = () -> {};
    private boolean cuts;
    private long slowness;
    private int orders;
    private int kept;
    private int onLoopHandled;

    /// @param before the node whose life this one goes on with, or `null`
    NodeProgram(SimNode node, NodeProgram before) {
        this.simulation = node.simulation;
        this.node = node;
        this.onLoop = simulation.schedule.config().getOrDefault("onLoop", 0L);
        this.orders = before == null ? 0 : before.orders;
    }

    /// Receives what it does from the begin.
    void receive(OobNodeBuilder builder) {
        for (int tag = 0; tag < Program.TAGS; tag++) {
            if (Program.of(tag) != Program.LATE || simulation.isMended()) {
                builder.receive(tag, handler(tag, mayRunOnLoop(tag)));
            }
        }
        builder.receive(Intruders.FORGED, this::forged);
        for (int tag : simulation.emptyTags) {
            builder.receive(tag, this::received);
        }
    }

    SealedBuffer message(int id, int bytes) {
        if (bytes < Program.LEAST) {
            return SealedBuffer.concat();
        }
        try (BufferBuilder builder = BufferBuilder.ofCapacity(node.user, bytes)) {
            return builder.putInt(id)
                    .putInt(node.life)
                    .putInt(++orders)
                    .put(Program.content(id, bytes - Program.LEAST))
                    .seal();
        }
    }

    /// Receives what had no receiver so far.
    void claim() {
        for (int tag = 0; tag < Program.TAGS; tag++) {
            if (Program.of(tag) == Program.LATE) {
                givenUp.remove(tag);
                node.node().receive(tag, handler(tag, mayRunOnLoop(tag)));
            }
        }
    }

    /// Those that do not wait, by the schedule.
    private boolean mayRunOnLoop(int tag) {
        return (onLoop >> tag & 1) != 0 && Program.of(tag).isPrompt();
    }

    private MessageHandler handler(int tag, boolean there) {
        return there ? MessageHandler.onLoop(this::received) : this::received;
    }

    /// Its handlers change places.
    void swap(int tag, boolean there) {
        if (Program.of(tag) != Program.LATE && Program.of(tag).isPrompt()) {
            givenUp.remove(tag);
            simulation.sights.see(there ? "handler goes to the loop" : "handler leaves the loop");
            node.node().receive(tag, handler(tag, there));
        }
    }

    void looksBy(Runnable looking) {
        look = looking;
    }

    /// A cut is being taken, or that is over.
    void cut(boolean now) {
        cuts = now;
    }

    private boolean isOnLoop() {
        return Thread.currentThread() == simulation.world.thread;
    }

    /// A handler on the loop, which may not wait.
    private void ranOnLoop(int tag) {
        simulation.sights.see("handled on the loop");
        simulation.beside("handled on the loop");
        if (givenUp.contains(tag)) {
            simulation.ledger.violation("handler that held up the loop runs there again", "node=" + node);
        }
        if (cuts) {
            simulation.ledger.violation("handler runs on the loop while a cut is taken", "node=" + node);
        }
        long every = simulation.schedule.config().getOrDefault("loopHeld", 0L);
        if (every > 0 && ++onLoopHandled % every == 0) {
            look.run();
            node.jump(simulation.schedule.nanos("heartbeat") / 2);
            look.run();
            givenUp.add(tag);
            simulation.sights.see("handler holds up the loop");
        }
        if (Program.of(tag) != Program.THROW && onLoopHandled % 5 == 1) {
            triesToWait();
        }
    }

    /// It cannot, and is told so.
    private void triesToWait() {
        try (SealedBuffer empty = SealedBuffer.concat()) {
            node.node().sendBlocking((node.rank() + 1) % simulation.size, 0, empty, SendOptions.DEFAULT);
            simulation.ledger.violation("handler on the loop waits", "node=" + node);
        } catch (IllegalStateException refused) {
            simulation.sights.see("handler on the loop may not wait");
        } catch (InterruptedException | TimeoutException notRefused) {
            simulation.ledger.violation("handler on the loop waits", "node=" + node + " " + notRefused);
        }
    }

    void unclaim() {
        for (int tag = 0; tag < Program.TAGS; tag++) {
            if (Program.of(tag) == Program.LATE) {
                node.node().stopReceiving(tag);
            }
        }
    }

    void slowDown(long nanos) {
        slowness = nanos;
    }

    private void received(Message message) {
        if (!running.add(message.tag())) {
            simulation.ledger.violation("two messages of a tag at a time", "node=" + node + " tag=" + message.tag());
        }
        try {
            handle(message);
        } finally {
            running.remove(message.tag());
        }
    }

    private void handle(Message message) {
        int id = simulation.ledger.handled(node, message);
        if (isOnLoop()) {
            ranOnLoop(message.tag());
        } else if (slowness > 0) {
            simulation.world.sleep(slowness);
        }
        switch (Program.of(message.tag())) {
            case SLOW -> simulation.world.sleep(simulation.schedule.nanos("slow"));
            case KEEP -> keep(message.buffer().share());
            case THROW -> throw new IllegalStateException("thrown on purpose: id=" + id);
            case REPLY -> reply(message, id);
            default -> {
                // nothing more
            }
        }
    }

    int kept() {
        return kept;
    }

    private void keep(SealedBuffer buffer) {
        long bytes = buffer.byteSize();
        kept++;
        node.memory.keep(bytes);
        node.later(simulation.schedule.nanos("keep"), () -> {
            buffer.close();
            node.memory.keep(-bytes);
            kept--;
        });
    }

    /// Waits for it, as a handler may.
    private void reply(Message message, int id) {
        Duration deadline = Duration.ofNanos(simulation.schedule.nanos("reply"));
        try {
            CompletableFuture<?> reply = simulation
                    .sends
                    .send(
                            node,
                            Program.reply(id, node.rank()),
                            message.origin(),
                            0,
                            Program.LEAST,
                            SendOptions.DEFAULT.within(deadline))
                    .toCompletableFuture();
            reply.join();
        } catch (CompletionException | CancellationException failed) {
            simulation.sights.see("reply failed");
        }
    }

    /// What a member that does not keep to the protocol has sent, or made of what others have.
    private void forged(Message message) {
        simulation.sights.see("handled what an intruder sent");
        boolean own = message.origin() == simulation.intruderRank();
        BroadcastSignatures mode = SimSecurity.of(simulation.schedule, node.rank());
        // of intruders that sign nothing
        boolean unsigned = !simulation.intruders.hasMember() && mode == BroadcastSignatures.SIGN;
        if (own && message.buffer().byteSize() > 0 && mode != BroadcastSignatures.NONE) {
            simulation.beside("handled what a member signed");
        }
        if (!own && mode != BroadcastSignatures.NONE && !unsigned) {
            simulation.ledger.violation("handled a forged broadcast", "node=" + node + " " + message);
        }
    }
}
