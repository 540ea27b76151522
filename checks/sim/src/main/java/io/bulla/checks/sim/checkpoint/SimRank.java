// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.checkpoint;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.sim.machines.SimHost;
import io.bulla.iovec.IoVec;
import io.bulla.runtime.checkpoint.CheckpointOptions;
import io.bulla.runtime.checkpoint.CheckpointStore;
import io.bulla.runtime.checkpoint.Checkpoints;
import io.bulla.runtime.checkpoint.RankImage;
import io.bulla.runtime.checkpoint.SimulatedCheckpoints;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.SplittableRandom;

/// A simulated process of a job: what it has, and what it does with messages. Tokens go from rank to rank; each
/// message says the how manyth it is from its sender of its tag, so that one which is missing, doubled or out of
/// order shows when the next one comes.
///
/// ```
/// message   token 4 | number 4 | filler
/// state     tokens 8 | casts 8 | of each rank: sent, got of each tag, casts seen
/// ```
final class SimRank {

    static final int TAGS = 3;
    static final int CAST = 6;
    static final int HEAD = 8;
    private static final int SLOW = 1;
    static final int LATE = 2;
    private static final int KICK = 5;
    private static final int MOST_CASTS = 60;
    private static final long KICKS = 4_000_000;
    private static final byte[] FILLER = new byte[1 << 14];

    static {
        for (int i = 0; i < FILLER.length; i++) {
            FILLER[i] = (byte) (i * 7 + (i >> 8));
        }
    }

    final SimHost host;
    final SimPlan plan;
    OobNode node;
    Checkpoints checkpoints;
    private final SimRun run;
    private final int rank;
    private final SplittableRandom random;
    private long tokens;
    private long casts;
    private final long[][] sent;
    private final long[][] got;
    private final long[] seen;

    SimRank(SimRun run, int rank, int life) {
        this.run = run;
        this.plan = run.plan;
        this.rank = rank;
        this.host = new SimHost(run.machines, rank, life);
        this.random = run.machines.random('p', 1000L * rank + life);
        this.sent = new long[plan.nodes()][TAGS];
        this.got = new long[plan.nodes()][TAGS];
        this.seen = new long[plan.nodes()];
        for (int token = rank; token < plan.tokens(); token += plan.nodes()) {
            tokens |= 1L << token;
        }
    }

    /// @param image where it goes on, or `null`; it is closed here
    void start(RankImage image) throws IOException {
        OobNodeBuilder builder = OobNode.builder(rank, plan.nodes())
                .routing(new Radix(plan.radix()))
                .fragment(plan.fragment())
                .coalesceBelow(plan.coalesce())
                .queuePerPeer(10_000, 1 << 24)
                .inboundHighWaterMark(plan.window())
                .heartbeat(Duration.ofMillis(plan.peerTimeoutMillis() / 5))
                .peerTimeout(Duration.ofMillis(plan.peerTimeoutMillis()))
                .receive(KICK, message -> pay())
                .receive(CAST, this::cast);
        for (int tag = 0; tag < TAGS; tag++) {
            if (tag != LATE || !plan.late()) {
                builder.receive(tag, handler(tag));
            }
        }
        if (image != null) {
            load(image.states().get("state").iovec());
            builder.restore(image.cut());
        }
        host.start(builder).whenComplete((started, failure) -> {
            if (image != null) {
                image.close();
            }
            if (failure != null) {
                run.violation("does not start", "rank=" + rank + " " + failure);
            }
            node = started;
        });
    }

    /// Takes part in checkpoints, and makes its tokens move.
    void open(CheckpointStore store, SimAgent agent) {
        checkpoints = SimulatedCheckpoints.of(
                node, store, CheckpointOptions.DEFAULT.keep(plan.keeps()).save("state", this::save), agent);
        kick();
    }

    private void kick() {
        if (run.isQuiet()) {
            return;
        }
        try (SealedBuffer empty = SealedBuffer.concat()) {
            node.send(rank, KICK, empty);
        }
        if (plan.late() && random.nextInt(4) == 0) {
            claim();
        } else if (plan.late()) {
            node.stopReceiving(LATE);
        }
        host.after(KICKS / 2 + random.nextLong(KICKS), this::kick);
    }

    void claim() {
        node.receive(LATE, handler(LATE));
    }

    private MessageHandler handler(int tag) {
        return plan.onLoop() && tag != SLOW ? MessageHandler.onLoop(this::token) : this::token;
    }

    long tokens() {
        return tokens;
    }

    long casts() {
        return casts;
    }

    long seen(int origin) {
        return seen[origin];
    }

    private void token(Message message) {
        IoVec bytes = message.buffer().iovec();
        int token = bytes.getInt(0);
        long number = bytes.getInt(4);
        int from = message.origin();
        long expected = ++got[from][message.tag()];
        if (number != expected) {
            run.violation(
                    number < expected ? "doubled" : "lost",
                    "rank=" + rank + " origin=" + from + " tag=" + message.tag() + " number=" + number + " expected="
                            + expected);
        }
        if ((tokens & 1L << token) != 0) {
            run.violation("a token is there twice", "rank=" + rank + " token=" + token);
        }
        if (!isWhole(bytes, token)) {
            run.violation("other bytes", "rank=" + rank + " origin=" + from + " number=" + number);
        }
        tokens |= 1L << token;
        if (message.tag() == SLOW) {
            host.sleep(1 + random.nextLong(1_000_000));
        }
        if (random.nextInt(4) > 0) {
            pay();
        }
    }

    private static boolean isWhole(IoVec bytes, int token) {
        long at = -HEAD;
        for (int i = 0; i < bytes.regionCount(); i++) {
            MemorySegment region = bytes.region(i);
            long skip = Math.min(region.byteSize(), Math.max(0, -at));
            MemorySegment expected = MemorySegment.ofArray(FILLER).asSlice(token + at + skip, region.byteSize() - skip);
            if (region.asSlice(skip).mismatch(expected) >= 0) {
                return false;
            }
            at += region.byteSize();
        }
        return true;
    }

    private SealedBuffer filled(int token, int number, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(host.memory(), bytes)) {
            return builder.putInt(token)
                    .putInt(number)
                    .put(MemorySegment.ofArray(FILLER).asSlice(token, bytes - HEAD))
                    .seal();
        }
    }

    /// Between two handlers, as all that changes the state.
    private void pay() {
        if (run.isQuiet() || tokens == 0) {
            return;
        }
        int token = anyToken();
        int to = random.nextInt(plan.nodes());
        int tag = random.nextInt(TAGS);
        int bytes = HEAD + (random.nextInt(4) == 0 ? random.nextInt(plan.longest()) : random.nextInt(100));
        tokens &= ~(1L << token);
        try (SealedBuffer message = filled(token, (int) ++sent[to][tag], bytes)) {
            node.send(to, tag, message).whenComplete((delivery, failure) -> run.outcome(host, failure));
        }
        if (plan.casts() && casts < MOST_CASTS && random.nextInt(20) == 0) {
            try (SealedBuffer message = filled((int) casts++, 0, HEAD + random.nextInt(plan.longest()))) {
                node.broadcast(CAST, message);
            }
        }
    }

    private int anyToken() {
        int shift = random.nextInt(Long.SIZE);
        return (Long.numberOfTrailingZeros(Long.rotateRight(tokens, shift)) + shift) % Long.SIZE;
    }

    private void cast(Message message) {
        long bit = 1L << message.buffer().iovec().getInt(0);
        if ((seen[message.origin()] & bit) != 0) {
            run.violation("a broadcast is there twice", "rank=" + rank + " origin=" + message.origin());
        }
        seen[message.origin()] |= bit;
    }

    private SealedBuffer save() {
        SealedBuffer state = state();
        if (plan.onLoop()) {
            // it takes a while; what the loop reads meanwhile is not in it
            host.sleep(1 + random.nextLong(2_000_000));
        }
        return state;
    }

    private SealedBuffer state() {
        try (BufferBuilder builder = BufferBuilder.create(host.memory())) {
            builder.putLong(tokens).putLong(casts);
            for (int peer = 0; peer < plan.nodes(); peer++) {
                for (int tag = 0; tag < TAGS; tag++) {
                    builder.putLong(sent[peer][tag]).putLong(got[peer][tag]);
                }
                builder.putLong(seen[peer]);
            }
            return builder.seal();
        }
    }

    private void load(IoVec state) {
        SimState saved = new SimState(state, plan.nodes());
        tokens = saved.tokens();
        casts = saved.casts();
        for (int peer = 0; peer < plan.nodes(); peer++) {
            for (int tag = 0; tag < TAGS; tag++) {
                sent[peer][tag] = saved.sent(peer, tag);
                got[peer][tag] = saved.got(peer, tag);
            }
            seen[peer] = saved.seen(peer);
        }
    }
}
