// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/// Images of a job of two nodes with something of each kind.
final class Images {

    static final int NODES = 2;
    static final Instant TAKEN = Instant.parse("2026-11-22T16:00:00Z");

    private Images() {}

    static SealedBuffer bytes(MemorySource source, int salt, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (salt * 31 + i * 7);
        }
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, length))) {
            return builder.put(bytes).seal();
        }
    }

    static RankImage of(MemorySource source, int rank, int salt) {
        NodeCut.OfLane small = new NodeCut.OfLane(
                5,
                3,
                8,
                List.of(
                        outgoing(source, 1, 3, salt, 20),
                        new NodeCut.Outgoing(2, 4, 9, Optional.empty(), 17, Optional.empty()),
                        outgoing(source, 3, NodeCut.UNNUMBERED, salt + 1, 0)));
        NodeCut.OfLane bulk = new NodeCut.OfLane(0, 0, 1, List.of(outgoing(source, 4, NodeCut.UNNUMBERED, salt, 333)));
        NodeCut.OfLane none = new NodeCut.OfLane(7, 7, 7, List.of());
        NodeCut cut = new NodeCut(
                rank,
                NODES,
                List.of(new NodeCut.OfPeer(1 - rank, List.of(small, bulk, none))),
                List.of(
                        new Message(1 - rank, 4, Optional.of(WireFormat.PMIX_4_DESCRIBED), bytes(source, salt, 41)),
                        new Message(rank, -5, Optional.empty(), bytes(source, salt + 7, 8))),
                List.of(new Message(rank, 6, Optional.of(WireFormat.OPAL_DSS), bytes(source, salt, 29))));
        TreeMap<String, SealedBuffer> states = new TreeMap<>();
        states.put("bälance", bytes(source, salt, 12));
        states.put("", bytes(source, salt, 0));
        return new RankImage(cut, states);
    }

    private static NodeCut.Outgoing outgoing(MemorySource source, long order, long number, int salt, int length) {
        return new NodeCut.Outgoing(
                order, number, 9, Optional.of(WireFormat.OPAL_DSS), length, Optional.of(bytes(source, salt, length)));
    }

    static CheckpointManifest write(CheckpointArchive archive, MemorySource source, long epoch) throws IOException {
        List<RankEntry> entries = new ArrayList<>();
        for (int rank = 0; rank < NODES; rank++) {
            try (RankImage image = of(source, rank, (int) epoch)) {
                entries.add(archive.write(epoch, image));
            }
        }
        return new CheckpointManifest(epoch, TAKEN, entries);
    }

    /// All files of a checkpoint say what was written.
    static void check(CheckpointArchive archive, MemorySource source, CheckpointManifest manifest) throws IOException {
        archive.verify(manifest);
        for (int rank = 0; rank < NODES; rank++) {
            try (RankImage expected = of(source, rank, (int) manifest.epoch());
                    RankImage found = archive.read(manifest, rank, source, RestoreLimits.DEFAULT);
                    RankImage mapped = archive.map(manifest, rank, RestoreLimits.DEFAULT)) {
                assertEquals(text(expected), text(found));
                assertEquals(text(expected), text(mapped));
            }
        }
    }

    static String text(RankImage image) {
        StringBuilder text = new StringBuilder();
        text.append(image.cut().rank()).append('/').append(image.cut().size());
        image.states().forEach((name, state) -> text.append('\n').append(name).append(hex(state)));
        for (NodeCut.OfPeer peer : image.cut().peers()) {
            for (NodeCut.OfLane lane : peer.lanes()) {
                text.append("\npeer " + peer.peer() + ' ' + lane.next() + ' ' + lane.acknowledged() + ' '
                        + lane.expected());
                for (NodeCut.Outgoing each : lane.outgoing()) {
                    text.append("\n " + each.order() + ' ' + each.number() + ' ' + each.tag() + ' ' + each.format());
                    text.append(" " + each.length() + each.bytes().map(Images::hex));
                }
            }
        }
        image.cut()
                .arrived()
                .forEach(each ->
                        text.append("\n" + each.origin() + ' ' + each.tag() + each.format() + hex(each.buffer())));
        image.cut()
                .broadcasts()
                .forEach(each -> text.append("\nbroadcast " + each.tag() + each.format() + hex(each.buffer())));
        return text.toString();
    }

    private static String hex(SealedBuffer bytes) {
        return java.util.HexFormat.of().formatHex(bytes.toByteArray());
    }
}
