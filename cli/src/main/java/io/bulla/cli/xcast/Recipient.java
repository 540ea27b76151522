// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.cli.shell.NodeTags;
import io.bulla.pack.Limits;
import io.bulla.pack.UnpackException;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;

/// A node that verifies what is broadcast, and tells who broadcast it.
///
/// ```
/// origin --LAUNCH, down the tree--> node --VERDICT, directly--> origin
/// origin --LOOK, directly---------> node, which keeps the message --MEMORY, directly---> origin
/// origin --ASK, directly----------> node, which gives it back ------COUNTS, directly---> origin
/// origin --PING, directly---------> node, if it lives
/// origin --END, directly----------> node, which need not wait for more
/// ```
final class Recipient implements AutoCloseable {

    /// Told of each message, after its sender is.
    interface Witness {

        /// @param trouble why it is not what was sent, or `null`
        void saw(Message message, String trouble);
    }

    private final OobNode node;
    private final Meters meters;
    private final Consumer<OobNode> death;
    private final Witness witness;
    private final ThreadFactory threads;
    // who gets counts, and whether a thread sends them; under the lock of the set
    private final Set<Integer> askers = new LinkedHashSet<>();
    private boolean answering;
    // of the handlers' thread
    private boolean asked;
    // the last message, until the origin asks for counts
    private SealedBuffer kept;

    private Recipient(OobNode node, Meters meters, Consumer<OobNode> death, Witness witness, ThreadFactory threads) {
        this.node = node;
        this.meters = meters;
        this.death = death;
        this.witness = witness;
        this.threads = threads;
    }

    /// Makes a node do this.
    ///
    /// @param death what to do instead when the message is there, to see what a failure looks like; or `null`
    static Recipient of(OobNode node, Meters meters, Consumer<OobNode> death, Witness witness) {
        return of(node, meters, death, witness, Thread.ofVirtual().factory());
    }

    /// With threads of the caller's making, for tests.
    ///
    /// @param threads for answers
    static Recipient of(OobNode node, Meters meters, Consumer<OobNode> death, Witness witness, ThreadFactory threads) {
        Recipient recipient = new Recipient(node, meters, death, witness, threads);
        node.receive(NodeTags.PING, message -> {});
        node.receive(NodeTags.LAUNCH, recipient::launched);
        node.receive(NodeTags.ASK, recipient::asked);
        node.receive(NodeTags.LOOK, recipient::looked);
        return recipient;
    }

    /// Starts a node that does this, as [#of].
    static Recipient start(OobNodeBuilder builder, Meters meters, Consumer<OobNode> death, Witness witness)
            throws IOException {
        return of(builder.start(), meters, death, witness);
    }

    /// Does once what each message takes, without a node.
    static void practise(Meters meters) throws IOException {
        LaunchMessage.practise(meters.source());
        try (BufferBuilder builder = BufferBuilder.create(meters.source())) {
            // the slab that short messages are carved from
            new ControlMessage.Verdict(0, null).packInto(builder);
        }
        ProcessMemory.bytes();
    }

    /// What to do when the origin says that this was all.
    void onEnd(Runnable step) {
        node.receive(NodeTags.END, message -> step.run());
    }

    OobNode node() {
        return node;
    }

    @Override
    public void close() {
        node.close();
        // no handler runs any more
        giveBack();
    }

    private void launched(Message message) {
        if (death != null) {
            death.accept(node);
            return;
        }
        String trouble = null;
        try {
            LaunchMessage.verify(message.unpacker(Limits.DEFAULT));
        } catch (IOException | UnpackException failure) {
            trouble = failure.getMessage();
        }
        send(message.origin(), NodeTags.VERDICT, new ControlMessage.Verdict(node.rank(), trouble));
        if (asked) {
            // this process is the node's alone, and its memory will be asked for once all have the message
            giveBack();
            kept = message.buffer().share();
        }
        witness.saw(message, trouble);
    }

    private void asked(Message message) {
        int asker = message.origin();
        asked = true;
        giveBack();
        // later: the question itself is held by this handler
        synchronized (askers) {
            askers.add(asker);
            if (!answering) {
                threads.newThread(this::answerAll).start();
                answering = true;
            }
        }
    }

    /// By one thread, however often a peer asks; it ends when all have their answers.
    private void answerAll() {
        boolean done = false;
        try {
            while (isAsked()) {
                long open = meters.awaitHandles();
                takeAskers().forEach(asker -> answer(asker, open));
            }
            done = true;
        } catch (InterruptedException ending) {
            Thread.currentThread().interrupt();
        } finally {
            if (!done) {
                synchronized (askers) {
                    answering = false;
                }
            }
        }
    }

    private boolean isAsked() {
        synchronized (askers) {
            answering = !askers.isEmpty();
            return answering;
        }
    }

    /// Before they are answered: who has an answer may ask again at once.
    private List<Integer> takeAskers() {
        synchronized (askers) {
            List<Integer> taken = List.copyOf(askers);
            askers.clear();
            return taken;
        }
    }

    private void answer(int asker, long open) {
        try {
            send(
                    asker,
                    NodeTags.COUNTS,
                    new ControlMessage.Counts(
                            node.broadcastSends(), meters.read(), open, node.socketBytes(), ProcessMemory.bytes()));
        } catch (RuntimeException closed) {
            // the node or its memory, meanwhile
        }
    }

    private void looked(Message message) {
        send(message.origin(), NodeTags.MEMORY, new ControlMessage.Memory(ProcessMemory.bytes()));
    }

    private void giveBack() {
        if (kept != null) {
            kept.close();
            kept = null;
        }
    }

    private void send(int peer, int tag, ControlMessage message) {
        try (BufferBuilder builder = BufferBuilder.create(meters.source())) {
            message.packInto(builder);
            try (SealedBuffer words = builder.seal()) {
                node.send(peer, tag, ControlMessage.FORMAT, words);
            }
        }
    }
}
