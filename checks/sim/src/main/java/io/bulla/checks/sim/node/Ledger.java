// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.schedule.Program;
import io.bulla.checks.sim.world.Sights;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.Delivery;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.MessageRefusedException;
import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.QueueFullException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;

/// What was sent, what became of it, and what is wrong with that. A rule is looked at when what it is about
/// happens; the first one broken ends the run.
public final class Ledger {

    /// A message, direct or to all.
    static final class Sent {

        final int id;
        final SimNode from;
        final int to;
        final int tag;
        final long bytes;
        final long at;
        final boolean mayFail;
        // ranks with the life that was there
        final List<SimNode> audience;
        // "rank/life"
        final Set<String> handledBy = new HashSet<>();
        /// On the sender's awake time.
        long deadline = Long.MAX_VALUE;
        String outcome;
        // a call that waits for room
        boolean waits;
        // its call has thrown: it never was queued
        boolean notQueued;
        BroadcastResult result;

        Sent(int id, SimNode from, int to, int tag, long bytes, long at, boolean mayFail, List<SimNode> audience) {
            this.id = id;
            this.from = from;
            this.to = to;
            this.tag = tag;
            this.bytes = bytes;
            this.at = at;
            this.mayFail = mayFail;
            this.audience = audience;
        }

        boolean isBroadcast() {
            return to < 0;
        }

        @Override
        public String toString() {
            return "id=" + id + " from=" + from + (isBroadcast() ? " to all" : " to=" + to) + " tag=" + tag + " bytes="
                    + bytes + " at=" + at / 1e9 + " outcome=" + outcome;
        }
    }

    private static final String SAVED = "SAVED";
    private static final long DEADLINE_IS_LATE = 50 * World.MILLI;

    private final Simulation simulation;
    private final Sights sights;
    private final Map<Integer, Sent> sends = new LinkedHashMap<>();
    private final Map<String, Integer> lastOrder = new HashMap<>();
    // ranks: who, and on whom
    private final Set<List<Integer>> verdicts = new HashSet<>();
    private int pending;
    private String violation;

    Ledger(Simulation simulation) {
        this.simulation = simulation;
        this.sights = simulation.sights;
    }

    /// The first broken rule, or `null`.
    public String violation() {
        return violation;
    }

    public void violation(String rule, String values) {
        if (violation == null) {
            violation = rule + ": " + values + " at=" + simulation.world.now() / 1e9;
        }
    }

    /// A verdict of a node on a peer.
    void judged(int judge, int peer) {
        verdicts.add(List.of(judge, peer));
    }

    boolean hasJudged(int judge, int peer) {
        return verdicts.contains(List.of(judge, peer));
    }

    /// Sends of lives that go on, without an outcome.
    int pending() {
        return pending;
    }

    /// @param to a rank, or -1 for all
    /// @param mayFail whether it has a deadline or will be cancelled
    Sent sent(int id, SimNode from, int to, int tag, long bytes, boolean mayFail, List<SimNode> audience) {
        Sent sent = new Sent(id, from, to, tag, bytes, simulation.world.now(), mayFail, audience);
        if (sends.put(id, sent) != null) {
            throw new IllegalStateException("id is taken: " + sent);
        }
        pending++;
        return sent;
    }

    void completed(Sent sent, Delivery delivery, Throwable failure) {
        complete(sent, failure == null ? delivery.status().name() : name(failure));
        if (failure != null) {
            failed(sent, failure);
        } else if (delivery.peer() != sent.to || delivery.tag() != sent.tag || delivery.bytes() != sent.bytes) {
            violation("delivery of another message", sent + " delivery=" + delivery);
        }
    }

    /// A call that waits for room has thrown.
    void gaveUp(Sent sent, Exception why) {
        if (!sent.handledBy.isEmpty()) {
            violation("handled what was not queued", sent + " failure=" + why);
        }
        sent.notQueued = true;
        complete(sent, "not queued: " + name(why));
        if (simulation.schedule.isGentle() && sent.deadline == Long.MAX_VALUE && why instanceof TimeoutException) {
            violation("timeout without a deadline", sent.toString());
        }
    }

    void completed(Sent sent, BroadcastResult result, Throwable failure) {
        complete(sent, failure == null ? "CONFIRMED" : name(failure));
        if (failure != null) {
            failed(sent, failure);
            return;
        }
        sent.result = result;
        if (!result.failed().isEmpty()) {
            sights.see(result.reached() > 0 ? "broadcast around a failed node" : "broadcast that reached none");
        }
        if (result.reached() + result.failed().size() != simulation.size - 1) {
            violation("broadcast does not count everybody", sent + " result=" + result);
        }
        List<Integer> mayFail = onItsWay(sent) > simulation.limit(0) ? List.of(0) : List.of();
        boolean refused = result.failed().stream()
                .anyMatch(by -> SimSecurity.isRefused(simulation.schedule, sent.from.rank(), by));
        if (refused) {
            sights.see("broadcast without a signature refused");
        }
        if (simulation.schedule.isGentle() && !refused && !mayFail.containsAll(result.failed())) {
            violation("broadcast failed although all went well", sent + " result=" + result);
        }
    }

    private long onItsWay(Sent broadcast) {
        return broadcast.bytes + SimSecurity.overhead(simulation.schedule, broadcast.from.rank());
    }

    private static String name(Throwable failure) {
        return failure.getClass().getSimpleName();
    }

    private void complete(Sent sent, String outcome) {
        if (sent.outcome != null) {
            violation("completed twice", sent + " now=" + outcome);
        }
        sent.outcome = outcome;
        if (sent.from.awake() - DEADLINE_IS_LATE > sent.deadline) {
            violation("completed long after its deadline", sent + " deadline=" + sent.deadline / 1e9);
        }
        pending--;
        sights.see("send " + outcome);
        simulation.tell("completed", sent);
        simulation.world.note(sent.id * 31L + outcome.hashCode());
    }

    private void failed(Sent sent, Throwable failure) {
        boolean known = failure instanceof PeerFailedException
                || failure instanceof QueueFullException
                || failure instanceof MessageRefusedException
                || sent.mayFail && (failure instanceof CancellationException || failure instanceof TimeoutException);
        if (!known) {
            violation("failed without a reason", sent + " failure=" + failure);
        }
        boolean full = failure instanceof QueueFullException;
        boolean tooLong = isTooLong(sent);
        if (simulation.has("checkpoint") && failure instanceof PeerFailedException && !sent.from.isDead()) {
            violation("peer failed although processes end at their cuts only", sent + " failure=" + failure);
        }
        boolean allowed = sent.mayFail || full || tooLong || sent.from.isDead();
        if (simulation.schedule.isGentle() && !allowed) {
            violation("failed although all went well", sent + " failure=" + failure);
        }
        if (failure instanceof MessageRefusedException && !isRefusedRightly(sent, tooLong, failure.getMessage())) {
            violation("refused without a reason", sent + " failure=" + failure);
        }
    }

    private boolean isTooLong(Sent sent) {
        return !sent.isBroadcast() && sent.bytes > simulation.limit(sent.to);
    }

    private boolean isRefusedRightly(Sent sent, boolean tooLong, String why) {
        if (why.contains("over the receiver's limit")) {
            return tooLong;
        }
        return simulation.has(why.contains("no memory for it") ? "starve" : "flap")
                || simulation.schedule.config().getOrDefault("bulkTrouble", 0L) != 0;
    }

    /// A node has ended: what it sent has no outcome to wait for.
    void killed(SimNode node) {
        ended(node, "KILLED");
    }

    /// A process has ended at its cut: what it sent is to arrive all the same.
    void saved(SimNode node) {
        ended(node, SAVED);
    }

    private void ended(SimNode node, String outcome) {
        for (Sent sent : sends.values()) {
            if (sent.from == node && sent.outcome == null) {
                sent.outcome = outcome;
                pending--;
            }
        }
    }

    /// A handler has a message.
    ///
    /// @return its id
    int handled(SimNode node, Message message) {
        int tag = message.tag();
        boolean empty = message.buffer().byteSize() == 0;
        int id = empty ? tag - Program.EMPTY : Program.id(message.buffer());
        simulation.world.note(id);
        Sent sent = sends.get(id);
        simulation.tell("handled by", node, sent);
        if (sent == null || sent.tag != tag || sent.from.rank() != message.origin()) {
            violation("handled what was not sent", "node=" + node + " message=" + message + " sent=" + sent);
            return id;
        }
        if (sent.isBroadcast() && SimSecurity.isOn(simulation.schedule)) {
            signed(node, sent);
        }
        if (!empty && !Program.isWhole(message.buffer(), id, sent.bytes)) {
            violation("wrong bytes", "node=" + node + " " + sent);
        }
        if (!sent.isBroadcast() && sent.to != node.rank()) {
            violation("handled by another node", "node=" + node + " " + sent);
        }
        if (!sent.handledBy.add(node.toString())) {
            violation("handled twice", "node=" + node + " " + sent);
        }
        if (!sent.isBroadcast() && sent.handledBy.size() > 1) {
            violation("handled by a node and by its successor", "nodes=" + sent.handledBy + " " + sent);
        }
        if (sent.notQueued || "QueueFullException".equals(sent.outcome)) {
            violation("handled what was not queued", "node=" + node + " " + sent);
        }
        if (!empty && (!sent.isBroadcast() || failsNowhere(sent))) {
            order(node, sent, Program.order(message.buffer()));
        }
        return id;
    }

    private void signed(SimNode node, Sent sent) {
        if (SimSecurity.isRefused(simulation.schedule, sent.from.rank(), node.rank())) {
            violation("handled a broadcast without a signature", "node=" + node + " " + sent);
        }
        if (node != sent.from && SimSecurity.overhead(simulation.schedule, sent.from.rank()) > 0) {
            sights.see("signed broadcast handled");
            simulation.beside("signed broadcast handled");
        }
    }

    /// Whether all nodes are there and take it: around one that does not, a broadcast may be overtaken.
    private boolean failsNowhere(Sent sent) {
        return simulation.schedule.isGentle() && onItsWay(sent) <= simulation.limit(0);
    }

    private void order(SimNode node, Sent sent, int order) {
        Integer before =
                lastOrder.put(sent.from + ">" + node + "#" + sent.tag + (sent.isBroadcast() ? "*" : ""), order);
        if (before != null && before >= order) {
            violation("out of order", "node=" + node + " order=" + order + " after=" + before + " " + sent);
        }
    }

    /// Whether each message that was acknowledged has been handled where it could be.
    List<String> unhandled() {
        List<String> missing = new ArrayList<>();
        for (Sent sent : sends.values()) {
            boolean arrives = SAVED.equals(sent.outcome) && !sent.waits && !sent.mayFail && !isTooLong(sent);
            if ((arrives || "ACKNOWLEDGED".equals(sent.outcome)) && sent.handledBy.isEmpty() && !hasDied(sent)) {
                missing.add("acknowledged, not handled: " + sent);
            }
            if (sent.result != null) {
                for (SimNode node : sent.audience) {
                    if (!node.isDead()
                            && node != sent.from
                            && !sent.result.failed().contains(node.rank())
                            && !sent.handledBy.contains(node.toString())) {
                        missing.add("confirmed, not handled: node=" + node + " " + sent);
                    }
                }
            }
        }
        return missing;
    }

    /// Whether a life of the receiver ended after the message was sent.
    private boolean hasDied(Sent sent) {
        return simulation.lives(sent.to).stream().anyMatch(life -> life.isDead() && simulation.endOf(life) >= sent.at);
    }

    List<String> neverCompleted() {
        return sends.values().stream()
                .filter(sent -> sent.outcome == null)
                .map(sent -> "never completed: " + sent)
                .toList();
    }

    Sent of(int id) {
        return sends.get(id);
    }

    int size() {
        return sends.size();
    }
}
