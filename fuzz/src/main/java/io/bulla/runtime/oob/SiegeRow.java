// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// One thing that a hostile member says over and over.
///
/// @param name of the line
/// @param acknowledges whether it takes what the node answers; else that stays the node's to keep, within its bounds
/// @param isOfBroadcast whether the node has a broadcast on its way, which the words are about
/// @param words the repetition of a number, from 0 on
record SiegeRow(String name, boolean acknowledges, boolean isOfBroadcast, Words words) {

    /// Where a message that stands behind the others goes.
    static final int FENCE = 77;

    private static final int TAG = 5;

    /// Says it once.
    interface Words {
        void say(SiegeTalk talk, long repetition) throws IOException;
    }

    /// At least one for each kind of frame: the switch has no default, so that a new kind does not compile without.
    static List<SiegeRow> of(Frame.Kind kind) {
        List<SiegeRow> rows = new ArrayList<>();
        switch (kind) {
            case HELLO, REFUSE, BYE, RETRY, RESUME, INVITE, PROOF, REQUEST, CLEAR ->
                rows.add(row(kind.name(), (talk, i) -> talk.control(kind, 0)));
            case DIRECT -> {
                rows.add(row("DIRECT", (talk, i) -> talk.sequenced(kind, TAG, talk.rank, 0, 0, Lane.SMALL)));
                rows.add(row("DIRECT again", (talk, i) -> again(talk, kind, TAG)));
            }
            case BROADCAST -> {
                rows.add(row("BROADCAST", (talk, i) -> broadcast(talk, i)));
                rows.add(row("BROADCAST of odd numbers", (talk, i) -> broadcast(talk, 2 * i + 1)));
                rows.add(row("BROADCAST of one number", (talk, i) -> broadcast(talk, 1)));
                rows.add(silent("BROADCAST of one number, never acknowledged", (talk, i) -> broadcast(talk, 1)));
                rows.add(row(
                        "BROADCAST of another session each",
                        (talk, i) -> talk.sequenced(kind, TAG, talk.rank, talk.session + i, 0, Lane.SMALL)));
            }
            case CONFIRM -> {
                rows.add(row("CONFIRM of nothing", (talk, i) -> confirm(talk, 1, i)));
                rows.add(row("CONFIRM -1 of nothing", (talk, i) -> confirm(talk, -1, 1)));
                rows.add(new SiegeRow("CONFIRM -1 of a broadcast", true, true, SiegeRow::wanted));
                rows.add(new SiegeRow("CONFIRM -1 of a broadcast, never acknowledged", false, true, SiegeRow::wanted));
                rows.add(row("CONFIRM again", (talk, i) -> again(talk, kind, 1)));
            }
            case SKIP -> {
                rows.add(row("SKIP", (talk, i) -> talk.sequenced(kind, TAG, talk.rank, 0, 0, Lane.SMALL)));
                rows.add(row("SKIP bulk", (talk, i) -> talk.sequenced(kind, TAG, talk.rank, 0, 0, Lane.BULK)));
            }
            case ACK -> rows.add(row("ACK", (talk, i) -> talk.acknowledge()));
            case BATCH -> rows.add(row("BATCH", SiegeRow::batch));
            case REJECT ->
                rows.add(row("REJECT", (talk, i) -> talk.write(Frame.rejection(talk.rank, Lane.SMALL, i, 16), 16)));
            case NOTICE ->
                rows.add(row(
                        "NOTICE",
                        (talk, i) -> talk.write(Frame.control(kind, (int) (i % Frame.TOPICS), talk.rank, 16), 16)));
            case FINISHED ->
                rows.add(row("FINISHED", (talk, i) -> talk.sequenced(kind, TAG, talk.rank, 0, 0, Lane.BULK)));
        }
        return rows;
    }

    /// What every kind is before the hello.
    static SiegeRow unknownPeer(Frame.Kind kind) {
        return row(kind.name() + " before the hello", (talk, i) -> talk.write(Frame.control(kind, 0, talk.rank, 0), 0));
    }

    private static SiegeRow row(String name, Words words) {
        return new SiegeRow(name, true, false, words);
    }

    private static SiegeRow silent(String name, Words words) {
        return new SiegeRow(name, false, false, words);
    }

    private static void broadcast(SiegeTalk talk, long number) throws IOException {
        talk.sequenced(Frame.Kind.BROADCAST, TAG, talk.rank, talk.session, number, Lane.SMALL);
    }

    /// Of a broadcast of the node's own life, which it never began.
    private static void confirm(SiegeTalk talk, int reached, long number) throws IOException {
        talk.sequenced(Frame.Kind.CONFIRM, reached, SiegeNode.RANK, talk.session, number, Lane.CONTROL);
    }

    /// The node's broadcast is wanted once more.
    private static void wanted(SiegeTalk talk, long repetition) throws IOException {
        talk.sequenced(
                Frame.Kind.CONFIRM, -1, SiegeNode.RANK, talk.broadcastSession, talk.broadcastNumber, Lane.CONTROL);
    }

    /// The first one of the lane, which the node has had.
    private static void again(SiegeTalk talk, Frame.Kind kind, int tag) throws IOException {
        int lane = kind == Frame.Kind.CONFIRM ? Lane.CONTROL : Lane.SMALL;
        long next = talk.next[lane];
        talk.next[lane] = 0;
        talk.sequenced(kind, tag, talk.rank, talk.session, 1, lane);
        talk.next[lane] = Math.max(1, next);
    }

    private static void batch(SiegeTalk talk, long repetition) throws IOException {
        talk.write(Frame.control(Frame.Kind.BATCH, 0, talk.rank, Frame.BYTES), 0);
        talk.sequenced(Frame.Kind.DIRECT, TAG, talk.rank, 0, 0, Lane.SMALL);
    }
}
