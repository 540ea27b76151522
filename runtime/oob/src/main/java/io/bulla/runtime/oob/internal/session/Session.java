// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The state that two nodes share beyond a connection: three lanes in each direction, of which two have credit,
/// known by a random number on either side.
///
/// ```
/// unknown --hello of the peer--> known --hello with its number: goes on, whatever the connection
///    ^                             |
///    +--- another number of the peer, or a verdict: begun messages are over, this side has a new number ---+
/// ```
///
/// One event loop's.
public final class Session {

    /// The meaning of a hello.
    public enum Answer {
        /// The session goes on, or begins.
        GOES_ON,
        /// The peer has a new one: the one before is over here, too.
        BEGAN_ANEW,
        /// The peer knows one that is over: it has to begin anew.
        KNOWS_AN_OLD_ONE,
        /// An earlier hello, of a connection that the peer itself has given up since.
        LATE
    }

    /// Former sessions of which something may be held, however much that is.
    private static final int MOST_FORMER = 4;

    public final Lane small = new Lane(Lane.SMALL);
    public final Lane bulk = new Lane(Lane.BULK);
    public final Lane control = new Lane(Lane.CONTROL);
    private final Lane[] lanes = {small, bulk, control};
    private final Reassembler[] reassemblers = {new Reassembler(), new Reassembler(), new Reassembler()};
    // of the session: what is handled of an earlier one is no credit in this one
    private Credit[] credits = new Credit[0];
    // of sessions that are over, of whose messages some are held
    private final List<Credit[]> former = new ArrayList<>();
    private final Settings settings;

    private final Environment environment;
    private long mine;
    private long theirs;
    private int helloNumber;
    private int theirHelloNumber;
    // from a cut, and the peer has not been heard since
    private boolean restored;
    // what was expected at a cut that is not over: the peer hears of nothing more; null if there is none
    private long @Nullable [] expectedAtCut;

    public Session(Settings settings) {
        this.settings = settings;
        this.environment = settings.environment();
        this.mine = environment.name();
        renewCredits();
        if (settings.cut() != null) {
            startRestored();
        }
    }

    /// A peer that is not in this node's cut may have this node in its own: it never got through.
    private void startRestored() {
        restored = true;
        for (Lane lane : lanes) {
            lane.restore(0, 0, List.of());
            reassemblers[lane.code].restore(0);
        }
    }

    private void renewCredits() {
        Credit[] fresh = new Credit[Lane.CONTROL];
        Arrays.setAll(fresh, _ -> new Credit(settings.inboundHighWaterMark()));
        if (held(credits) > 0) {
            former.add(credits);
        }
        credits = fresh;
    }

    private static long held(Credit... of) {
        return Stream.of(of).mapToLong(Credit::held).sum();
    }

    /// Whether a peer may not begin another session: handlers still have much of several that are over. Else a peer
    /// that begins anew, again and again, has a window for each. It does not count as heard then: what waits for it
    /// has to fail some day.
    ///
    /// @param hello the peer's
    /// @throws IOException if so
    public void checkFormer(Hello hello) throws IOException {
        if (theirs == hello.session()) {
            return;
        }
        former.removeIf(each -> held(each) == 0);
        long bytes = former.stream().mapToLong(Session::held).sum();
        if (former.size() >= MOST_FORMER && bytes >= 2 * settings.inboundHighWaterMark()) {
            throw new IOException(
                    "messages of former sessions are held: sessions=" + former.size() + " bytes=" + bytes);
        }
    }

    public Hello hello(long incarnation) {
        return new Hello(
                settings.oldestVersion(),
                settings.newestVersion(),
                settings.rank(),
                settings.size(),
                ++helloNumber,
                mine,
                theirs,
                expected(Lane.SMALL),
                expected(Lane.BULK),
                expected(Lane.CONTROL),
                incarnation,
                settings.inboundHighWaterMark(),
                settings.limit(),
                Hello.SIGNED_BROADCASTS | Hello.CHECKPOINTS | (settings.localMemory() == null ? 0 : Hello.LOCAL));
    }

    /// Compares a peer's hello with what is known of it. Only [Answer#GOES_ON] and [Answer#BEGAN_ANEW] change
    /// something; after the latter the caller sees to it that this side begins anew, by [#end], and greets again.
    public Answer greet(Hello hello) {
        if (hello.known() != 0 && hello.known() != mine) {
            // of another session of the peer's, too, it may be late: that is no reason to end this one
            return Answer.KNOWS_AN_OLD_ONE;
        }
        if (theirs != 0 && theirs != hello.session()) {
            return Answer.BEGAN_ANEW;
        }
        if (theirs == 0 && !accepts(hello.small(), hello.bulk(), hello.control())) {
            // one of the two goes on from a cut, and the other one not, or from another
            return restored ? Answer.BEGAN_ANEW : Answer.KNOWS_AN_OLD_ONE;
        }
        if (theirs != 0 && hello.number() <= theirHelloNumber) {
            return Answer.LATE;
        }
        theirs = hello.session();
        small.allowance.open(hello.window());
        bulk.allowance.open(hello.window());
        small.allowance.reconnected();
        bulk.allowance.reconnected();
        theirHelloNumber = hello.number();
        return Answer.GOES_ON;
    }

    /// This side's number.
    public long mine() {
        return mine;
    }

    /// The peer's number, or 0: none is known.
    public long theirs() {
        return theirs;
    }

    private long expected(int lane) {
        return expectedAtCut != null ? expectedAtCut[lane] : reassemblers[lane].expected();
    }

    /// A cut was taken: until all nodes have theirs, no message gets a number, and the peer hears of none that
    /// arrives. Again is harmless.
    public void hold() {
        if (expectedAtCut == null) {
            expectedAtCut =
                    Stream.of(reassemblers).mapToLong(Reassembler::expected).toArray();
            hold(true);
        }
    }

    /// All nodes have their cuts, or there will be none.
    public void goOn() {
        expectedAtCut = null;
        hold(false);
    }

    private void hold(boolean holds) {
        for (Lane lane : lanes) {
            lane.hold(holds);
        }
    }

    public boolean isBlocked() {
        return small.isBlocked() || bulk.isBlocked();
    }

    /// Whether a confirmation was begun so many times.
    public boolean isConfirming(int attempts) {
        PendingSend head = control.begun.first();
        return head != null && head.attempts >= attempts;
    }

    /// The messages that were begun so many times.
    public void failHeads(int attempts, Consumer<PendingSend> each) {
        for (Lane lane : List.of(small, bulk)) {
            PendingSend head = lane.begun.first();
            if (head != null && !head.skipped && head.attempts >= attempts) {
                each.accept(head);
            }
        }
    }

    public Reassembler reassembler(int lane) {
        return reassemblers[lane];
    }

    public Credit credit(int lane) {
        return credits[lane];
    }

    public Lane lane(int code) {
        return lanes[code];
    }

    /// An acknowledgement of all that has arrived, with the credit.
    ///
    public Frame acknowledgement() {
        long[] next = {expected(Lane.SMALL), expected(Lane.BULK), expected(Lane.CONTROL)};
        long[] credit = {credits[0].tell(), credits[1].tell()};
        int depths = credits[0].empty() << Byte.SIZE | credits[1].empty() << 2 * Byte.SIZE;
        return Frame.acknowledgement(settings.rank(), next, credit, (isBlocked() ? 1 : 0) | depths);
    }

    /// @return whether it is more than before
    /// @throws IOException if the peer grants what it cannot
    public boolean granted(Frame ack) throws IOException {
        long before = small.allowance.limit() + bulk.allowance.limit();
        boolean both = small.allowance.grant(ack.total(), ack.tag() >>> Byte.SIZE & 0xff)
                & bulk.allowance.grant(ack.session(), ack.tag() >>> 2 * Byte.SIZE & 0xff);
        if (!both) {
            throw new IOException("credit for what was not sent: small=" + ack.total() + " bulk=" + ack.session());
        }
        return small.allowance.limit() + bulk.allowance.limit() > before;
    }

    public Lane laneOf(PendingSend send, long fragment) {
        if (send.kind == Frame.Kind.CONFIRM) {
            return control;
        }
        // a message never overtakes one of its own tag
        return send.bytes > fragment || send.isLanding() || bulk.holds(send.tag) ? bulk : small;
    }

    /// The connection is over: messages that were not acknowledged are written again, and arrive again, from
    /// byte 0.
    public void interrupt() {
        rewind();
        dropParts();
    }

    /// Takes back all that this side has sent, to be written again.
    public void rewind() {
        for (Lane lane : lanes) {
            lane.rewind();
        }
    }

    /// Drops messages that have arrived in part.
    public void dropParts() {
        for (Reassembler reassembler : reassemblers) {
            reassembler.interrupt();
        }
    }

    public void checkExpected(Hello hello) throws IOException {
        checkExpected(hello.small(), hello.bulk(), hello.control());
    }

    private boolean accepts(long smallNext, long bulkNext, long controlNext) {
        return small.accepts(smallNext) && bulk.accepts(bulkNext) && control.accepts(controlNext);
    }

    /// Numbers and messages of all lanes.
    public List<NodeCut.OfLane> lanes(Function<PendingSend, NodeCut.Outgoing> each) {
        List<NodeCut.OfLane> cut = new ArrayList<>();
        for (Lane lane : lanes) {
            cut.add(lane.cut(reassemblers[lane.code].expected(), each));
        }
        return cut;
    }

    /// Goes on where a cut was taken, under a new number of this side's: what a peer still says in the name of the
    /// former one is refused. Cannot fail.
    public void restore(List<NodeCut.OfLane> cut, List<List<PendingSend>> sends) {
        restored = true;
        for (Lane lane : lanes) {
            NodeCut.OfLane of = cut.get(lane.code);
            lane.restore(of.next(), of.acknowledged(), sends.get(lane.code));
            reassemblers[lane.code].restore(of.expected());
        }
    }

    /// Whether it is as in a cut: the peer was not heard since.
    public boolean isRestored() {
        return restored;
    }

    /// The peer has said for the first time what it has of a restored session: what it has not is charged now, as
    /// if it were begun in this one.
    public void chargeRestored() {
        if (restored) {
            restored = false;
            small.chargeBegun();
            bulk.chargeBegun();
        }
    }

    /// @throws IOException if the peer cannot expect these
    public void checkExpected(long smallNext, long bulkNext, long controlNext) throws IOException {
        if (!accepts(smallNext, bulkNext, controlNext)) {
            throw new IOException("peer expects what was not sent, or was acknowledged: small=" + smallNext + " bulk="
                    + bulkNext + " control=" + controlNext + " sentSmall=" + small.next() + " sentBulk=" + bulk.next()
                    + " sentControl=" + control.next());
        }
    }

    public void acknowledge(long smallNext, long bulkNext, long controlNext, Consumer<PendingSend> gone) {
        small.acknowledge(smallNext, gone);
        bulk.acknowledge(bulkNext, gone);
        control.acknowledge(controlNext, gone);
    }

    /// The session is over: takes out what was begun, or all.
    public void abandon(boolean all, Consumer<PendingSend> each) {
        for (Lane lane : lanes) {
            if (all) {
                lane.abandonAll(each);
            } else {
                lane.abandon(each);
            }
        }
    }

    /// A message that the peer does not take, or `null`.
    @Nullable
    public PendingSend first(Predicate<PendingSend> notTaken) {
        PendingSend found = small.firstWaiting(notTaken);
        return found != null ? found : bulk.firstWaiting(notTaken);
    }

    /// Charges of what this side holds.
    public long held() {
        return credits[Lane.SMALL].held() + credits[Lane.BULK].held();
    }

    public boolean isLow() {
        return credits[Lane.SMALL].isLow() || credits[Lane.BULK].isLow();
    }

    /// The peer has said whether it waits for credit.
    ///
    /// @return true if it does and there is some
    public boolean want(boolean waits) {
        // both, not one of them
        return credits[Lane.SMALL].want(waits) | credits[Lane.BULK].want(waits);
    }

    /// This side begins anew; the lanes are the caller's to empty.
    public void end() {
        mine = environment.name();
        theirs = 0;
        restored = false;
        goOn();
        renewCredits();
        for (Reassembler reassembler : reassemblers) {
            reassembler.reset();
        }
    }

    public long duplicates() {
        return Stream.of(reassemblers).mapToLong(Reassembler::duplicates).sum();
    }

    public long resends() {
        return Stream.of(lanes).mapToLong(Lane::resends).sum();
    }

    /// How long the oldest message has been on its way.
    public Optional<Duration> oldest() {
        long now = environment.now();
        return Stream.of(lanes)
                .map(Lane::oldest)
                .filter(Objects::nonNull)
                .map(send -> Duration.ofNanos(send.ageNanos(now)))
                .max(Comparator.naturalOrder());
    }

    public int queued() {
        return Stream.of(lanes).mapToInt(Lane::size).sum();
    }
}
