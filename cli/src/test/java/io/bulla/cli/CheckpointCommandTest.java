// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Packer;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.checkpoint.CheckpointArchive;
import io.bulla.runtime.checkpoint.CheckpointManifest;
import io.bulla.runtime.checkpoint.FolderStore;
import io.bulla.runtime.checkpoint.RankImage;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointCommandTest {

    @TempDir
    Path folder;

    private void write(long epoch) throws IOException {
        write(folder, epoch);
    }

    /// Of two nodes.
    static void write(Path folder, long epoch) throws IOException {
        try (ArenaSource memory = ArenaSource.create()) {
            TreeMap<String, SealedBuffer> states = new TreeMap<>();
            states.put("balance", packed(memory));
            NodeCut.OfLane none = new NodeCut.OfLane(0, 0, 0, List.of());
            NodeCut.OfLane one = new NodeCut.OfLane(
                    3, 2, 0, List.of(new NodeCut.Outgoing(0, 2, 8, Optional.empty(), 10, Optional.of(packed(memory)))));
            NodeCut cut = new NodeCut(
                    0,
                    2,
                    List.of(new NodeCut.OfPeer(1, List.of(one, none, none))),
                    List.of(
                            new Message(1, 7, Optional.of(WireFormat.PMIX_4_DESCRIBED), packed(memory)),
                            new Message(1, 7, Optional.of(WireFormat.PMIX_4), packed(memory))),
                    List.of(new Message(0, 5, Optional.empty(), packed(memory))));
            CheckpointArchive archive = CheckpointArchive.of(FolderStore.of(folder));
            try (RankImage first = new RankImage(cut, states);
                    RankImage second = new RankImage(new NodeCut(1, 2, List.of(), List.of()), new TreeMap<>())) {
                archive.publish(new CheckpointManifest(
                        epoch, Instant.now(), List.of(archive.write(epoch, first), archive.write(epoch, second))));
            }
        }
    }

    private static SealedBuffer packed(ArenaSource memory) {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            Packer.into(builder, WireFormat.PMIX_4_DESCRIBED).packInt32(1).packString("a");
            return builder.seal();
        }
    }

    @Test
    void listShowsEachAndSaysWhichIsDamaged() throws IOException {
        write(1);
        write(2);
        String line = ": taken \\S+Z \\(\\d+ (s|min|h|d) ago\\), 2 nodes, 4 messages, \\d+ bytes\n";
        Ran whole = Ran.bulla("checkpoint", "list", folder.toString());
        assertEquals(0, whole.status(), whole::err);
        assertTrue(whole.out().matches("checkpoint 2" + line + "checkpoint 1" + line), whole::out);
        Files.writeString(folder.resolve("checkpoint-000000000002/MANIFEST"), "nothing");
        Ran damaged = Ran.bulla("checkpoint", "list", folder.toString());
        assertEquals(1, damaged.status());
        assertTrue(
                damaged.out()
                        .matches("checkpoint 2: checkpoint is damaged: epoch=2 file=MANIFEST reason=digest differs\n"
                                + "checkpoint 1" + line),
                damaged::out);
    }

    @Test
    void showTellsMessagesByPeerAndTag() throws IOException {
        write(1);
        Ran shown = Ran.bulla("checkpoint", "show", folder.toString());
        assertEquals(0, shown.status(), shown::err);
        String[] lines = shown.out().split("\n", 3);
        assertTrue(lines[1].matches("rank 0: 4 messages, \\d+ bytes"), lines[1]);
        assertEquals("""
                  state balance: 10 bytes
                  arrived from 1, tag 7: 2 messages, 20 bytes
                  to peer 1, tag 8: 1 message, 10 bytes
                  to all, tag 5: 1 message, 10 bytes
                rank 1: 0 messages, 112 bytes
                """, lines[2]);
        Ran items = Ran.bulla("checkpoint", "show", "--epoch=1", "--items", folder.toString());
        assertTrue(items.out().contains("""
                                    10 bytes, PMIX_4_DESCRIBED
                                      0  INT32 x1
                                      3    1
                                      4  STRING x1
                                      7    "a"
                                    10 bytes, PMIX_4
                                """.indent(0)), items::out);
    }

    /// Its tree of items has no line's end of its own, which would flush a process' output.
    @Test
    void lastMessageIsShownToItsEnd() throws IOException {
        try (ArenaSource memory = ArenaSource.create()) {
            Message last = new Message(0, 7, Optional.of(WireFormat.PMIX_4_DESCRIBED), packed(memory));
            CheckpointArchive archive = CheckpointArchive.of(FolderStore.of(folder));
            try (RankImage image =
                    new RankImage(new NodeCut(0, 1, List.of(), List.of(last), List.of()), new TreeMap<>())) {
                archive.publish(new CheckpointManifest(1, Instant.now(), List.of(archive.write(1, image))));
            }
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintWriter out = new PrintWriter(bytes, true);
        assertEquals(0, Bulla.run(new String[] {"checkpoint", "show", "--items", folder.toString()}, out, out));
        assertTrue(bytes.toString().endsWith("    \"a\"\n"), bytes::toString);
    }

    @Test
    void verifyFindsADamagedByte() throws IOException {
        write(4);
        Ran whole = Ran.bulla("checkpoint", "verify", folder.toString());
        assertEquals(0, whole.status(), whole::err);
        assertTrue(whole.out().matches("verified: epoch=4 files=3 bytes=\\d+\n"), whole::out);
        Path file = folder.resolve("checkpoint-000000000004/rank-00000.bulla");
        byte[] bytes = Files.readAllBytes(file);
        bytes[100] ^= 1;
        Files.write(file, bytes);
        for (String command : List.of("verify", "show")) {
            Ran damaged = Ran.bulla("checkpoint", command, folder.toString());
            assertEquals(1, damaged.status());
            assertTrue(
                    damaged.err().startsWith("bulla: checkpoint is damaged: epoch=4 file=rank-00000.bulla reason="),
                    damaged::err);
            assertEquals(1, damaged.err().lines().count());
        }
    }

    @Test
    void mistakesHaveOneLine() throws IOException {
        failed("no checkpoint in " + folder, "list", folder.toString());
        failed("no checkpoint in " + folder, "verify", folder.toString());
        failed(
                "cannot read checkpoint: epoch=9 file=MANIFEST reason=no such file",
                "show",
                "--epoch=9",
                folder.toString());
        Path missing = folder.resolve("missing");
        Path file = Files.writeString(folder.resolve("file"), "x");
        Ran.refused("no such folder: " + missing, "checkpoint", "list", missing.toString());
        Ran.refused("not a folder: " + file, "checkpoint", "show", file.toString());
        Ran.refused("--epoch must be at least 0: given=-1", "checkpoint", "verify", "--epoch=-1", folder.toString());
        Ran.refused("no command given: list, show, verify", "checkpoint");
        Ran.refused("Unmatched argument at index 1: 'lst'; did you mean list?", "checkpoint", "lst");
    }

    private static void failed(String message, String... args) {
        Ran ran = Ran.bulla(java.util.stream.Stream.concat(
                        java.util.stream.Stream.of("checkpoint"), java.util.stream.Stream.of(args))
                .toArray(String[]::new));
        assertEquals(1, ran.status());
        assertEquals("bulla: " + message + "\n", ran.err());
    }
}
