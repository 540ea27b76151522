// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/// What was sent, what was handled and what was said of it, by all nodes: outside of them, so that it knows what
/// those have forgotten that were killed.
final class HostLedger implements HostProcess.Listener {

    static final int ALL = -1;
    private static final int WORDS_OF_VERDICT = 2;
    // in which a verdict may still be about what has ended
    private static final double TIMEOUTS = 2.5;

    /// A message, or a broadcast.
    private static final class Sent {

        final int id;
        final Life from;
        final int to;
        final int bytes;
        final long at = System.nanoTime();
        String outcome;
        final Map<Life, Integer> handled = new HashMap<>();

        Sent(int id, Life from, int to, int bytes) {
            this.id = id;
            this.from = from;
            this.to = to;
            this.bytes = bytes;
        }

        @Override
        public String toString() {
            return "id=" + id + " from=" + from + " to=" + (to == ALL ? "all" : Integer.toString(to)) + " bytes="
                    + bytes;
        }
    }

    /// A node's verdict on a peer.
    ///
    /// @param hasReason whether a life has ended, or the peer has judged this node; what cuts say is known at the
    ///     end
    private record Verdict(Life judge, int peer, long at, String why, boolean hasReason) {}

    /// A rank that a broadcast was told of as failed, without a reason that was known at once.
    private record Named(Sent message, int rank, long at) {}

    private final Cuts cuts;
    private final long timeout;
    private final long enough;
    private final Map<Integer, Sent> sent = new TreeMap<>();
    private final Map<Integer, List<Life>> lives = new HashMap<>();
    private final Map<Life, Long> begins = new HashMap<>();
    private final Map<List<Life>, Integer> last = new HashMap<>();
    private final List<Verdict> verdicts = new ArrayList<>();
    private final List<Named> named = new ArrayList<>();
    private final List<String> lost = new ArrayList<>();
    private final List<String> doubled = new ArrayList<>();
    private final List<String> falseVerdicts = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private final Set<Life> left = new HashSet<>();
    // judge and life of a peer: the end of a life is a reason once
    private final Set<List<Life>> ends = new HashSet<>();
    private long acknowledged;

    /// @param timeoutNanos of silence, until a node may judge
    /// @param heartbeatNanos what a node with nothing to say waits at most before it says so, but for a tick, which
    ///     is half of it: by so much the silence may be longer than the cut
    HostLedger(Cuts cuts, long timeoutNanos, long heartbeatNanos) {
        this.cuts = cuts;
        this.timeout = timeoutNanos;
        this.enough = timeoutNanos - heartbeatNanos * 3 / 2;
    }

    synchronized void begun(Life life) {
        lives.computeIfAbsent(life.rank(), rank -> new ArrayList<>()).add(life);
        begins.put(life, System.nanoTime());
    }

    /// @return its number
    synchronized int sent(Life from, int to, int bytes) {
        int id = sent.size() + 1;
        sent.put(id, new Sent(id, from, to, bytes));
        return id;
    }

    @Override
    public synchronized void said(Life by, long nanos, String[] words) {
        switch (words[0]) {
            case "handled" -> handled(by, of(words), Integer.parseInt(words[2]), words[3]);
            case "done", "confirmed", "failed" -> completed(by, of(words), words, nanos);
            case "lost" -> judged(by, Integer.parseInt(words[1]), nanos, rest(words, WORDS_OF_VERDICT));
            // a process that did not run could not be heard
            case "held" ->
                cuts.end(cuts.begin(by.rank(), Cuts.ALL, Long.parseLong(words[1])), Long.parseLong(words[2]));
            case "ended" -> {
                left.add(by);
                if (!words[1].equals("0") || !words[2].equals("0")) {
                    wrong.add("memory is not given back: node=" + by + " handles=" + words[1] + " bytes=" + words[2]);
                }
            }
            default -> wrong.add("a node said: node=" + by + " " + rest(words, 0));
        }
        notifyAll();
    }

    private Sent of(String[] words) {
        return sent.get(Integer.parseInt(words[1]));
    }

    private static String rest(String[] words, int from) {
        return String.join(" ", Arrays.copyOfRange(words, from, words.length));
    }

    private void handled(Life by, Sent message, int bytes, String content) {
        if (!content.equals("ok") || bytes != message.bytes) {
            wrong.add("other bytes: " + message + " handled-by=" + by + " handled-bytes=" + bytes);
        }
        if (message.to != ALL && message.to != by.rank()) {
            wrong.add("handled by another: " + message + " by=" + by);
        }
        if (message.handled.merge(by, 1, Integer::sum) > 1) {
            doubled.add("handled again: " + message + " by=" + by);
        }
        if (message.to != ALL) {
            Integer before = last.put(List.of(message.from, by), message.id);
            if (before != null && before > message.id) {
                wrong.add("out of order: " + message + " by=" + by + " behind=" + before);
            }
        }
    }

    private void completed(Life by, Sent message, String[] words, long nanos) {
        if (message.outcome != null) {
            doubled.add("completed again: " + message + " outcome=" + message.outcome + " then=" + words[0]);
        }
        message.outcome = rest(words, 0);
        if (words[0].equals("done")) {
            acknowledged++;
        }
        if (words[0].equals("confirmed") && !words[2].equals("[]")) {
            for (String rank : rest(words, 2).replaceAll("[\\[\\] ]", "").split(",")) {
                int peer = Integer.parseInt(rank);
                if (!isEnded(peer, message.at - (long) (TIMEOUTS * timeout))) {
                    named.add(new Named(message, peer, nanos));
                }
            }
        }
    }

    private void judged(Life judge, int peer, long at, String why) {
        boolean hasReason = cutNanos(judge.rank(), peer, at) >= enough
                || why.contains("given this node up") && hasJudged(peer, judge.rank())
                || isFirstOfItsEnd(judge, peer);
        verdicts.add(new Verdict(judge, peer, at, why, hasReason));
        boolean isTrue =
                !why.contains("it was restarted") || lives.get(peer).stream().anyMatch(Life::isOver);
        isTrue &= !why.contains("it has closed") || lives.get(peer).stream().anyMatch(Life::hasLeft);
        if (!isTrue) {
            wrong.add("words that are not true: judge=" + judge + " peer=" + peer + " " + why);
        }
    }

    private long cutNanos(int one, int other, long until) {
        return cuts.nanos(one, other, until - (long) (TIMEOUTS * timeout), until);
    }

    private boolean isJust(Verdict verdict) {
        return verdict.hasReason() || cutNanos(verdict.judge().rank(), verdict.peer(), verdict.at()) >= enough;
    }

    /// What processes say of times in which they did not run comes later than the verdicts of others.
    private void auditVerdicts() {
        for (Verdict each : verdicts) {
            if (!isJust(each)) {
                falseVerdicts.add("a node that could be reached is judged: judge=" + each.judge() + " peer="
                        + each.peer() + " cut-millis="
                        + cutNanos(each.judge().rank(), each.peer(), each.at()) / 1_000_000 + " " + each.why());
            }
        }
        for (Named each : named) {
            boolean mayFail = verdicts.stream()
                            .anyMatch(verdict ->
                                    verdict.peer() == each.rank() && verdict.at() <= each.at() && isJust(verdict))
                    || lives.keySet().stream()
                            .anyMatch(other -> cuts.nanos(
                                            other,
                                            each.rank(),
                                            each.message().at - (long) (TIMEOUTS * timeout),
                                            each.at())
                                    >= enough);
            if (!mayFail) {
                falseVerdicts.add(
                        "a broadcast names a node that could be reached: " + each.message() + " rank=" + each.rank());
            }
        }
    }

    private boolean isFirstOfItsEnd(Life judge, int peer) {
        return lives.get(peer).stream().anyMatch(life -> life.isOver() && ends.add(List.of(judge, life)));
    }

    private boolean hasJudged(int judge, int peer) {
        return verdicts.stream().anyMatch(each -> each.judge().rank() == judge && each.peer() == peer);
    }

    private boolean isEnded(int rank, long since) {
        return lives.get(rank).stream().anyMatch(life -> life.isOver() && life.killedAt() >= since);
    }

    /// Whether a node has judged a peer after a moment.
    synchronized boolean isJudged(Life judge, int peer, long since) {
        return verdicts.stream().anyMatch(each -> each.judge() == judge && each.peer() == peer && each.at() >= since);
    }

    /// Whether the words of a verdict after a moment say so.
    synchronized boolean isSaid(Life judge, int peer, long since, String words) {
        return verdicts.stream()
                .anyMatch(each -> each.judge() == judge
                        && each.peer() == peer
                        && each.at() >= since
                        && each.why().contains(words));
    }

    /// The words of all verdicts after a moment.
    synchronized List<String> saidOf(Life judge, int peer, long since) {
        return verdicts.stream()
                .filter(each -> each.judge() == judge && each.peer() == peer && each.at() >= since)
                .map(Verdict::why)
                .toList();
    }

    /// When it was judged first after a moment.
    synchronized long judgedAt(Life judge, int peer, long since) {
        return verdicts.stream()
                .filter(each -> each.judge() == judge && each.peer() == peer && each.at() >= since)
                .mapToLong(Verdict::at)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /// Waits until something is so, looked at whenever a node says something, and each 50 milliseconds.
    ///
    /// @return false if it was not so in that time
    boolean await(long nanos, BooleanSupplier so) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        while (!so.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            synchronized (this) {
                wait(50);
            }
        }
        return true;
    }

    /// Messages of nodes that live, without an outcome.
    synchronized List<String> open() {
        return sent.values().stream()
                .filter(each -> each.outcome == null && !each.from.isOver())
                .map(Sent::toString)
                .toList();
    }

    synchronized boolean hasOutcome(int id) {
        return sent.get(id).outcome != null;
    }

    synchronized boolean isDone(int id) {
        String outcome = sent.get(id).outcome;
        return outcome != null && outcome.startsWith("done");
    }

    /// At the end, when all have left.
    synchronized void audit(List<Life> last) {
        auditVerdicts();
        for (Sent message : sent.values()) {
            if (message.outcome == null) {
                if (!message.from.isOver() || left.contains(message.from)) {
                    lost.add("no outcome: " + message);
                }
            } else if (message.outcome.startsWith("done")
                    && message.handled.isEmpty()
                    && wasThere(message.to, message)) {
                lost.add("acknowledged and not handled: " + message);
            } else if (message.outcome.startsWith("confirmed")) {
                auditCast(message, last);
            }
        }
        for (Life node : last) {
            if (!left.contains(node)) {
                wrong.add("a node has not left: node=" + node);
            }
        }
    }

    private void auditCast(Sent message, List<Life> last) {
        List<String> failed = List.of(message.outcome
                .replaceFirst("confirmed \\d+ ", "")
                .replaceAll("[\\[\\] ]", "")
                .split(","));
        for (Life node : last) {
            boolean wanted = node.rank() != message.from.rank()
                    && !failed.contains(Integer.toString(node.rank()))
                    && wasThere(node.rank(), message);
            if (wanted && !message.handled.containsKey(node)) {
                lost.add("confirmed and not handled: " + message + " by=" + node);
            }
        }
    }

    /// Whether the last life of a rank was there when a message was sent: what an earlier one has handled, or lost
    /// with its end, says nothing of it.
    private boolean wasThere(int rank, Sent message) {
        Life last = lives.get(rank).getLast();
        return begins.get(last) <= message.at && last.killedAt() == Long.MAX_VALUE;
    }

    synchronized void wrong(String what) {
        wrong.add(what);
    }

    /// Figures that break no rule, but for the last.
    synchronized String story() {
        return "acknowledged=" + acknowledged + " verdicts=" + verdicts.size() + " wrong=" + wrong.size();
    }

    /// @return the figures that stand in the last line
    synchronized String figures() {
        return "messages=" + sent.size() + " lost=" + lost.size() + " doubled=" + doubled.size() + " false-verdicts="
                + falseVerdicts.size();
    }

    /// A line for each rule that was broken.
    synchronized List<String> broken() {
        List<String> all = new ArrayList<>(lost);
        all.addAll(doubled);
        all.addAll(falseVerdicts);
        all.addAll(wrong);
        return all;
    }
}
