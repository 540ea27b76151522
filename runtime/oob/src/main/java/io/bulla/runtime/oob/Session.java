// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.wire.Hello;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/// What two nodes have in common beyond a connection: two lanes in each direction, known by a random number on
/// either side.
///
/// ```
/// unknown --hello of the peer--> known --hello with its number: goes on, whatever the connection
///    ^                             |
///    +--- another number of the peer, or a verdict: begun messages are over, this side has a new number ---+
/// ```
///
/// One event loop's.
final class Session {

    /// What a hello means.
    enum Answer {
        /// The session goes on, or begins.
        GOES_ON,
        /// The peer has a new one: the one before is over here, too.
        BEGAN_ANEW,
        /// The peer knows one that is over: it has to begin anew.
        KNOWS_AN_OLD_ONE,
        /// An earlier hello, of a connection that the peer itself has given up since.
        LATE
    }

    final Lane small = new Lane(Lane.SMALL);
    final Lane bulk = new Lane(Lane.BULK);
    private final Reassembler[] reassemblers = {new Reassembler(), new Reassembler()};

    private final Surroundings surroundings;
    private long mine;
    private long theirs;
    private int helloNumber;
    private int theirHelloNumber;

    Session(Surroundings surroundings) {
        this.surroundings = surroundings;
        this.mine = surroundings.name();
    }

    Hello hello(int oldest, int newest, int rank, int nodes) {
        return new Hello(
                oldest,
                newest,
                rank,
                nodes,
                ++helloNumber,
                mine,
                theirs,
                reassemblers[Lane.SMALL].expected(),
                reassemblers[Lane.BULK].expected());
    }

    /// Compares a peer's hello with what is known of it. Only [Answer#GOES_ON] and [Answer#BEGAN_ANEW] change
    /// something; after the latter the caller sees to it that this side begins anew, by [#end], and greets again.
    Answer greet(Hello hello) {
        if (theirs != 0 && theirs != hello.session()) {
            return Answer.BEGAN_ANEW;
        }
        if (hello.known() != 0 && hello.known() != mine) {
            return Answer.KNOWS_AN_OLD_ONE;
        }
        if (theirs != 0 && hello.number() <= theirHelloNumber) {
            return Answer.LATE;
        }
        theirs = hello.session();
        theirHelloNumber = hello.number();
        return Answer.GOES_ON;
    }

    Reassembler reassembler(int lane) {
        return reassemblers[lane];
    }

    Lane laneOf(PendingSend send, long fragment) {
        // a message never overtakes one of its own tag
        return send.bytes > fragment || send.isLanding() || bulk.holds(send.tag) ? bulk : small;
    }

    /// The connection is over: messages that were not acknowledged are written again, and arrive again, from
    /// byte 0.
    void interrupt() {
        small.rewind();
        bulk.rewind();
        reassemblers[Lane.SMALL].interrupt();
        reassemblers[Lane.BULK].interrupt();
    }

    /// @throws IOException if the peer cannot expect these
    void checkExpected(long smallNext, long bulkNext) throws IOException {
        if (!small.accepts(smallNext) || !bulk.accepts(bulkNext)) {
            throw new IOException("peer expects what was not sent, or was acknowledged: small=" + smallNext + " bulk="
                    + bulkNext + " sentSmall=" + small.next() + " sentBulk=" + bulk.next());
        }
    }

    /// This side begins anew; the lanes are the caller's to empty.
    void end() {
        mine = surroundings.name();
        theirs = 0;
        for (Reassembler reassembler : reassemblers) {
            reassembler.reset();
        }
    }

    long duplicates() {
        return reassemblers[Lane.SMALL].duplicates() + reassemblers[Lane.BULK].duplicates();
    }

    long resends() {
        return small.resends() + bulk.resends();
    }

    /// How long the oldest message has been on its way.
    Optional<Duration> oldest() {
        long now = surroundings.now();
        return Stream.of(small.waiting, small.unacked, bulk.waiting, bulk.unacked)
                .filter(list -> !list.isEmpty())
                .map(list -> Duration.ofNanos(list.first().ageNanos(now)))
                .max(Comparator.naturalOrder());
    }

    int queued() {
        return small.size() + bulk.size();
    }
}
