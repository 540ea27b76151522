// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// A message between a coordinator and a node about one attempt at a checkpoint.
///
/// ```
///  0  word    1  attempt    9  epoch    17  figure    25  messages    29  text, UTF-8
/// ```
///
/// @param word what it is
/// @param attempt a random number
/// @param epoch of the checkpoint
/// @param figure of `PREPARE`, milliseconds until the deadline; of `DURABLE`, bytes of the file
/// @param messages of `DURABLE`, in the file
/// @param text of `DURABLE`, the file's digests; of `ABORT` and `FAILED`, why
record Notice(Word word, long attempt, long epoch, long figure, int messages, String text) {

    /// Topic of what a coordinator says to a node.
    static final int FROM_COORDINATOR = 0;
    /// Topic of what a node says to its coordinator.
    static final int FROM_NODE = 1;

    /// How one speaks to a node, or to its coordinator.
    interface Voice {
        void say(int rank, Notice notice);
    }

    private static final int HEAD = 29;
    private static final int MOST = 256;

    /// The first five are the coordinator's.
    enum Word {
        /// Broadcasts of the node's own wait.
        PREPARE,
        /// All are prepared.
        CUT,
        /// All have cut.
        GO_ON,
        /// The checkpoint exists.
        COMMIT,
        /// There will be none.
        ABORT,
        PREPARED,
        TAKEN,
        /// Its file is kept, and it goes on.
        DURABLE,
        FAILED
    }

    static Notice of(Word word, long attempt, long epoch, String text) {
        return new Notice(word, attempt, epoch, 0, 0, text);
    }

    byte[] toBytes() {
        byte[] words = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(words.length, MOST - HEAD);
        return ByteBuffer.allocate(HEAD + length)
                .put((byte) word.ordinal())
                .putLong(attempt)
                .putLong(epoch)
                .putLong(figure)
                .putInt(messages)
                .put(words, 0, length)
                .array();
    }

    /// @return nothing if it is not one of `topic`
    static Optional<Notice> read(int topic, byte[] bytes) {
        Word[] words = Word.values();
        if (bytes.length < HEAD || bytes[0] < 0 || bytes[0] >= words.length) {
            return Optional.empty();
        }
        Word word = words[bytes[0]];
        boolean fromNode = word.ordinal() > Word.ABORT.ordinal();
        if (topic != (fromNode ? FROM_NODE : FROM_COORDINATOR)) {
            return Optional.empty();
        }
        ByteBuffer in = ByteBuffer.wrap(bytes, 1, bytes.length - 1);
        long attempt = in.getLong();
        long epoch = in.getLong();
        long figure = in.getLong();
        int messages = in.getInt();
        String text = new String(bytes, HEAD, bytes.length - HEAD, StandardCharsets.UTF_8);
        return Optional.of(new Notice(word, attempt, epoch, figure, messages, text));
    }
}
