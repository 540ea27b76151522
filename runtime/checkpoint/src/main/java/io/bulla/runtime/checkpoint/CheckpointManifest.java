// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/// The list that makes one checkpoint of a file per rank: their sizes and digests. As text:
///
/// ```
/// bulla-checkpoint 2
/// epoch 42
/// attempt 1f00c2d3e4a5b697
/// taken 2026-11-22T16:00:00Z
/// nodes 2
/// rank 0 bytes 312 messages 1 sha256 ... records ...
/// rank 1 bytes 184 messages 0 sha256 ... records ...
/// sha256 ...                                of all bytes above
/// ```
///
/// One without an attempt has no such line, and says version 1.
///
/// @param epoch number of the checkpoint
/// @param attempt random number of the attempt that took it, which its files have, too: those of another job are told
///     apart; 0: none
/// @param taken when, by the clock of the machine that wrote it
/// @param ranks one for each node, in order
public record CheckpointManifest(long epoch, long attempt, Instant taken, List<RankEntry> ranks) {

    /// The most nodes of a checkpoint.
    public static final int MOST_NODES = 1 << 16;

    private static final String TITLE = "bulla-checkpoint 1";
    private static final String TITLE_WITH_ATTEMPT = "bulla-checkpoint 2";
    private static final String ATTEMPT = "attempt ";
    private static final String DIGEST = "sha256 ";
    private static final int DIGEST_LINE = DIGEST.length() + 64 + 1;
    // title, epoch, taken and nodes, then a line for each rank
    private static final int HEAD_LINES = 4;
    private static final int MOST_LINE = 240;

    /// No manifest is longer, in bytes.
    static final int MOST_BYTES = (HEAD_LINES + 1 + MOST_NODES + 1) * MOST_LINE;

    /// Checks that all ranks are there.
    ///
    /// @throws IllegalArgumentException if the epoch is negative, a rank is missing or out of order, or there
    ///     are none or too many
    public CheckpointManifest {
        Objects.requireNonNull(taken, "taken");
        ranks = List.copyOf(ranks);
        if (epoch < 0 || ranks.isEmpty() || ranks.size() > MOST_NODES) {
            throw new IllegalArgumentException("not a checkpoint: epoch=" + epoch + " nodes=" + ranks.size());
        }
        for (int rank = 0; rank < ranks.size(); rank++) {
            if (ranks.get(rank).rank() != rank) {
                throw new IllegalArgumentException(
                        "rank out of place: given=" + ranks.get(rank).rank() + " expected=" + rank);
            }
        }
    }

    /// A manifest of files without an attempt.
    ///
    /// @param epoch number of the checkpoint
    /// @param taken when, by the clock of the machine that wrote it
    /// @param ranks one for each node, in order
    /// @throws IllegalArgumentException as the other constructor
    public CheckpointManifest(long epoch, Instant taken, List<RankEntry> ranks) {
        this(epoch, 0, taken, ranks);
    }

    /// Number of nodes of the job.
    ///
    /// @return at least 1
    public int nodes() {
        return ranks.size();
    }

    /// The checkpoint in figures.
    ///
    /// @return sums over all ranks
    public CheckpointSummary summary() {
        long messages = 0;
        long bytes = 0;
        for (RankEntry rank : ranks) {
            messages += rank.messages();
            bytes += rank.bytes();
        }
        return new CheckpointSummary(epoch, taken, nodes(), messages, bytes);
    }

    ByteBuffer toBytes() {
        StringBuilder text = new StringBuilder(attempt == 0 ? TITLE : TITLE_WITH_ATTEMPT);
        text.append("\nepoch ").append(epoch);
        if (attempt != 0) {
            text.append('\n').append(ATTEMPT).append(HexFormat.of().toHexDigits(attempt));
        }
        text.append("\ntaken ").append(taken).append("\nnodes ").append(nodes());
        for (RankEntry rank : ranks) {
            text.append("\nrank ").append(rank.rank()).append(" bytes ").append(rank.bytes());
            text.append(" messages ")
                    .append(rank.messages())
                    .append(' ')
                    .append(DIGEST)
                    .append(rank.sha256())
                    .append(" records ")
                    .append(rank.records());
        }
        byte[] above = text.append('\n').toString().getBytes(StandardCharsets.US_ASCII);
        text.append(DIGEST).append(digest(above, above.length)).append('\n');
        return ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.US_ASCII));
    }

    /// @throws CheckpointException if the bytes are damaged, or of another epoch
    static CheckpointManifest parse(long epoch, byte[] bytes) throws CheckpointException {
        int above = Math.max(0, bytes.length - DIGEST_LINE);
        String last = new String(bytes, above, bytes.length - above, StandardCharsets.ISO_8859_1);
        if (!last.equals(DIGEST + digest(bytes, above) + "\n")) {
            throw CheckpointException.damaged(epoch, FileNames.MANIFEST, "digest differs");
        }
        String[] lines = new String(bytes, 0, above, StandardCharsets.ISO_8859_1).split("\n");
        try {
            return parse(epoch, lines);
        } catch (IllegalArgumentException | DateTimeException wrong) {
            throw CheckpointException.damaged(epoch, FileNames.MANIFEST, String.valueOf(wrong.getMessage()));
        }
    }

    private static CheckpointManifest parse(long epoch, String[] lines) {
        // a text of line ends alone has none
        check(lines.length > 0, "lines are missing");
        boolean named = lines[0].equals(TITLE_WITH_ATTEMPT);
        expect(named ? TITLE_WITH_ATTEMPT : TITLE, lines[0]);
        int more = named ? 1 : 0;
        int head = HEAD_LINES + more;
        check(lines.length > head, "lines are missing");
        expect("epoch " + epoch, lines[1]);
        long attempt = named ? attempt(lines[2]) : 0;
        List<RankEntry> ranks = new ArrayList<>();
        for (int i = head; i < lines.length; i++) {
            ranks.add(rank(lines[i].split(" ")));
        }
        expect("nodes " + ranks.size(), lines[3 + more]);
        String taken = lines[2 + more];
        check(taken.startsWith("taken "), "no time");
        return new CheckpointManifest(epoch, attempt, Instant.parse(taken.substring("taken ".length())), ranks);
    }

    private static long attempt(String line) {
        check(line.startsWith(ATTEMPT), "no attempt");
        long attempt = HexFormat.fromHexDigitsToLong(line, ATTEMPT.length(), line.length());
        check(attempt != 0, "attempt is 0");
        return attempt;
    }

    private static RankEntry rank(String[] words) {
        check(words.length == 10, "not a rank's line");
        return new RankEntry(
                Integer.parseInt(words[1]), Long.parseLong(words[3]), Integer.parseInt(words[5]), words[7], words[9]);
    }

    private static void expect(String expected, String found) {
        check(expected.equals(found), "expected=" + expected);
    }

    private static void check(boolean right, String message) {
        if (!right) {
            throw new IllegalArgumentException(message);
        }
    }

    private static String digest(byte[] bytes, int length) {
        MessageDigest digest = Digests.sha256();
        digest.update(bytes, 0, length);
        return Digests.text(digest);
    }
}
