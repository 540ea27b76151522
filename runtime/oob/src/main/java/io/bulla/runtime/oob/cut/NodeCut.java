// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.cut;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import io.bulla.refcount.internal.Failures;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.internal.ranks.Ranks;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What a node had undelivered, and the numbers of its sessions, at one moment between two handlers: enough to begin
/// a node that goes on there ([restore][io.bulla.runtime.oob.OobNodeBuilder#restore]). Messages are handles on the
/// bytes that the node keeps, no copies, so a cut costs a handle for each, whatever their size.
///
/// ```
/// sender                                            receiver
///  waiting | begun, not acknowledged   ~~ wire ~~    expected | arrived, not handled | handled
///  ------- in its cut --------------                 --- in its cut: ---------------
/// ```
///
/// Cuts of all nodes of a job fit together if nothing moved between the first and the last: all nodes are suspended
/// ([suspend][io.bulla.runtime.oob.OobNode#suspend()]), all are cut, all go on. What a sender has kept and its
/// receiver has taken in is dropped by its number when both are restored. The same holds of [LiveCut]s, with nothing
/// suspended. Not in a cut: broadcasts that have begun, deadlines, and who waits for a
/// [Send][io.bulla.runtime.oob.Send].
///
/// @param rank of the node
/// @param size number of nodes
/// @param peers by rank
/// @param arrived messages that were taken in, and acknowledged, but not handled, in order; broadcasts that have
///     arrived and messages of the node to itself among them
/// @param broadcasts of the node's own, which had not begun, in order; messages as they arrive at the others
public record NodeCut(int rank, int size, List<OfPeer> peers, List<Message> arrived, List<Message> broadcasts)
        implements AutoCloseable {

    /// Number of a message that has none yet.
    public static final long UNNUMBERED = -1;

    private static final int LANES = 3;

    // so far above the numbers of a session that was restored, which have bit 62
    private static final long MOST = 3L << 61;

    /// The session with one peer.
    ///
    /// @param peer its rank
    /// @param lanes short messages, long ones, confirmations
    public record OfPeer(int peer, List<OfLane> lanes) {

        /// Checks that all lanes are there.
        ///
        /// @throws IllegalArgumentException if there are not three lanes
        public OfPeer {
            lanes = List.copyOf(lanes);
            if (lanes.size() != LANES) {
                throw new IllegalArgumentException("lanes of a session: given=" + lanes.size() + " expected=" + LANES);
            }
        }
    }

    /// One lane, both ways.
    ///
    /// @param next number of the next message that is begun
    /// @param acknowledged the peer is known to have all before this number
    /// @param expected number of the next message from the peer that is not whole yet
    /// @param outgoing those that were begun, by number from `acknowledged` to `next - 1`, then those that wait
    public record OfLane(long next, long acknowledged, long expected, List<Outgoing> outgoing) {

        /// Checks the numbers.
        ///
        /// @throws IllegalArgumentException if a number is negative, missing or out of order
        public OfLane {
            outgoing = List.copyOf(outgoing);
            long number = acknowledged;
            for (Outgoing message : outgoing) {
                if (message.number != (number < next ? number++ : UNNUMBERED)) {
                    throw new IllegalArgumentException("number of a message out of place: number=" + message.number
                            + " acknowledged=" + acknowledged + " next=" + next);
                }
            }
            if (acknowledged < 0 || expected < 0 || number != next || Math.max(next, expected) >= MOST) {
                throw new IllegalArgumentException("numbers of a lane: acknowledged=" + acknowledged + " next=" + next
                        + " expected=" + expected + " numbered=" + (number - acknowledged));
            }
        }
    }

    /// A message to a peer.
    ///
    /// @param order of all messages to the peer, in which they were queued
    /// @param number in its lane, or [NodeCut#UNNUMBERED]
    /// @param tag of the message
    /// @param format how the bytes are packed, if the sender said
    /// @param length in bytes
    /// @param bytes a handle of the cut; nothing if the message was cancelled after it had its number, or is a
    ///     broadcast's, so that the peer is told to skip the number
    public record Outgoing(
            long order, long number, int tag, Optional<WireFormat> format, long length, Optional<SealedBuffer> bytes) {

        /// Checks the message.
        ///
        /// @throws IllegalArgumentException if the length is not that of the bytes
        public Outgoing {
            Objects.requireNonNull(format, "format");
            if (length < 0 || bytes.isPresent() && bytes.get().byteSize() != length) {
                throw new IllegalArgumentException("length of a message: given=" + length + " bytes="
                        + bytes.map(SealedBuffer::byteSize).orElse(0L));
            }
        }
    }

    /// Checks the ranks.
    ///
    /// @throws IllegalArgumentException if a rank is not one of the job's, a peer is the node itself, or
    ///     out of order, or a broadcast is not the node's own
    public NodeCut {
        Ranks.check(rank, size);
        peers = List.copyOf(peers);
        arrived = List.copyOf(arrived);
        broadcasts = List.copyOf(broadcasts);
        int last = -1;
        for (OfPeer of : peers) {
            if (Ranks.check(of.peer, size) == rank || of.peer <= last) {
                throw new IllegalArgumentException(
                        "peer out of place: peer=" + of.peer + " after=" + last + " rank=" + rank);
            }
            last = of.peer;
        }
        for (Message broadcast : broadcasts) {
            if (broadcast.origin() != rank) {
                throw new IllegalArgumentException(
                        "broadcast of another node: origin=" + broadcast.origin() + " rank=" + rank);
            }
        }
    }

    /// A cut without broadcasts.
    ///
    /// @param rank of the node
    /// @param size number of nodes
    /// @param peers by rank
    /// @param arrived messages that were taken in but not handled, in order
    public NodeCut(int rank, int size, List<OfPeer> peers, List<Message> arrived) {
        this(rank, size, peers, arrived, List.of());
    }

    /// Messages to be delivered yet: to peers, as far as they do not have them already, and to handlers.
    ///
    /// @return their number
    public int undelivered() {
        int count = arrived.size() + broadcasts.size();
        for (OfPeer of : peers) {
            for (OfLane lane : of.lanes) {
                for (Outgoing message : lane.outgoing) {
                    count += message.bytes.isPresent() ? 1 : 0;
                }
            }
        }
        return count;
    }

    /// Closes the handles of all messages, each of them whatever another one's release throws. A node that was
    /// restored has its own.
    @Override
    public void close() {
        Throwable failure = null;
        // by index: there may be no heap for iterators
        for (int i = 0; i < peers.size(); i++) {
            for (int lane = 0; lane < LANES; lane++) {
                failure = closeOutgoing(peers.get(i).lanes.get(lane).outgoing, failure);
            }
        }
        Failures.rethrow(closeMessages(broadcasts, closeMessages(arrived, failure)));
    }

    private static @Nullable Throwable closeOutgoing(List<Outgoing> messages, @Nullable Throwable before) {
        Throwable failure = before;
        for (int i = 0; i < messages.size(); i++) {
            SealedBuffer bytes = messages.get(i).bytes.orElse(null);
            failure = bytes == null ? failure : Failures.close(bytes, failure);
        }
        return failure;
    }

    private static @Nullable Throwable closeMessages(List<Message> messages, @Nullable Throwable before) {
        Throwable failure = before;
        for (int i = 0; i < messages.size(); i++) {
            failure = Failures.close(messages.get(i).buffer(), failure);
        }
        return failure;
    }
}
