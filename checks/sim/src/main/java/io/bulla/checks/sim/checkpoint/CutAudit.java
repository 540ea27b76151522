// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.checkpoint;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.checkpoint.CheckpointArchive;
import io.bulla.runtime.checkpoint.CheckpointManifest;
import io.bulla.runtime.checkpoint.RankEntry;
import io.bulla.runtime.checkpoint.RankImage;
import io.bulla.runtime.checkpoint.RestoreLimits;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Holds the files of a checkpoint against each other: what each rank had and what was undelivered are all that there
/// is, each once.
final class CutAudit implements AutoCloseable {

    private static final long PER_MESSAGE = 64;
    private static final long PER_RANK = 4096;

    final List<RankImage> images = new ArrayList<>();
    private final CheckpointManifest manifest;
    private final SimPlan plan;
    private final List<SimState> states = new ArrayList<>();
    private long tokens;
    private String wrong;

    private CutAudit(CheckpointManifest manifest, SimPlan plan) {
        this.manifest = manifest;
        this.plan = plan;
    }

    /// @throws IOException if a file is missing or damaged
    static CutAudit read(CheckpointArchive archive, CheckpointManifest manifest, MemorySource source, SimPlan plan)
            throws IOException {
        CutAudit audit = new CutAudit(manifest, plan);
        boolean whole = false;
        try {
            for (int rank = 0; rank < plan.nodes(); rank++) {
                RankImage image = archive.read(manifest, rank, source, RestoreLimits.DEFAULT);
                audit.images.add(image);
                audit.states.add(new SimState(image.states().get("state").iovec(), plan.nodes()));
            }
            whole = true;
            return audit;
        } finally {
            if (!whole) {
                audit.close();
            }
        }
    }

    int undelivered() {
        return images.stream().mapToInt(image -> image.cut().undelivered()).sum();
    }

    /// @return what does not add up, or `null`
    String wrong() {
        for (int rank = 0; rank < plan.nodes(); rank++) {
            add("token of rank " + rank, states.get(rank).tokens());
            checkSize(rank);
            for (int to = 0; to < plan.nodes(); to++) {
                for (int tag = 0; tag < SimRank.TAGS; tag++) {
                    messages(rank, to, tag);
                }
                if (to != rank) {
                    casts(rank, to);
                }
            }
        }
        if (wrong == null && tokens != -1L >>> Long.SIZE - plan.tokens()) {
            wrong = "tokens are missing: " + Long.toHexString(tokens) + " of " + plan.tokens();
        }
        return wrong;
    }

    private void fail(String what) {
        wrong = wrong == null ? what + " epoch=" + manifest.epoch() : wrong;
    }

    private void add(String what, long some) {
        if ((tokens & some) != 0) {
            fail("twice: " + what + " tokens=" + Long.toHexString(tokens & some));
        }
        tokens |= some;
    }

    /// Of one tag on one way: what was got, then what has arrived, then what was sent, one number after the other.
    private void messages(int from, int to, int tag) {
        long next = states.get(to).got(from, tag);
        String way = "from=" + from + " to=" + to + " tag=" + tag;
        List<SealedBuffer> undelivered = new ArrayList<>();
        for (Message message : images.get(to).cut().arrived()) {
            if (message.origin() == from && message.tag() == tag) {
                undelivered.add(message.buffer());
            }
        }
        outgoing(from, to).stream()
                .filter(message -> message.tag() == tag)
                .forEach(message -> undelivered.add(message.bytes().orElseThrow()));
        for (SealedBuffer bytes : undelivered) {
            long number = bytes.iovec().getInt(4);
            if (number != ++next) {
                fail((number < next ? "doubled: " : "lost: ") + way + " number=" + number + " expected=" + next);
            }
            add("message " + way, 1L << bytes.iovec().getInt(0));
        }
        if (next != states.get(from).sent(to, tag)) {
            fail("lost: " + way + " sent=" + states.get(from).sent(to, tag) + " found=" + next);
        }
    }

    /// What the receiver does not have, in the order in which it was queued.
    private List<NodeCut.Outgoing> outgoing(int from, int to) {
        List<NodeCut.Outgoing> all = new ArrayList<>();
        NodeCut.OfPeer there = of(from, to);
        NodeCut.OfPeer back = of(to, from);
        for (int lane = 0; there != null && lane < there.lanes().size(); lane++) {
            long expected = back == null ? 0 : back.lanes().get(lane).expected();
            for (NodeCut.Outgoing message : there.lanes().get(lane).outgoing()) {
                if (message.bytes().isPresent()
                        && (message.number() == NodeCut.UNNUMBERED || message.number() >= expected)) {
                    all.add(message);
                }
            }
        }
        all.sort(Comparator.comparingLong(NodeCut.Outgoing::order));
        return all;
    }

    private NodeCut.OfPeer of(int rank, int peer) {
        return images.get(rank).cut().peers().stream()
                .filter(each -> each.peer() == peer)
                .findFirst()
                .orElse(null);
    }

    private void casts(int from, int to) {
        long found = states.get(to).seen(from);
        List<Message> left = new ArrayList<>(images.get(to).cut().arrived());
        left.removeIf(message -> message.origin() != from || message.tag() != SimRank.CAST);
        left.addAll(images.get(from).cut().broadcasts());
        for (Message message : left) {
            long bit = 1L << message.buffer().iovec().getInt(0);
            if ((found & bit) != 0) {
                fail("broadcast doubled: from=" + from + " to=" + to);
            }
            found |= bit;
        }
        if (found != (1L << states.get(from).casts()) - 1) {
            fail("broadcast lost: from=" + from + " to=" + to + " sent="
                    + states.get(from).casts() + " found=" + Long.toHexString(found));
        }
    }

    private void checkSize(int rank) {
        RankEntry entry = manifest.ranks().get(rank);
        NodeCut cut = images.get(rank).cut();
        long bytes = images.get(rank).states().get("state").byteSize();
        for (NodeCut.OfPeer peer : cut.peers()) {
            for (NodeCut.OfLane lane : peer.lanes()) {
                for (NodeCut.Outgoing message : lane.outgoing()) {
                    bytes += PER_MESSAGE + (message.bytes().isPresent() ? message.length() : 0);
                }
            }
        }
        for (Message message : cut.arrived()) {
            bytes += PER_MESSAGE + message.buffer().byteSize();
        }
        for (Message message : cut.broadcasts()) {
            bytes += PER_MESSAGE + message.buffer().byteSize();
        }
        if (entry.bytes() > bytes + PER_RANK) {
            fail("file is too long: rank=" + rank + " bytes=" + entry.bytes() + " most=" + (bytes + PER_RANK));
        }
    }

    @Override
    public void close() {
        images.forEach(RankImage::close);
    }
}
