// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.util.List;
import java.util.Objects;
import java.util.zip.Deflater;

/// Makes prepared messages, with the settings of a server.
///
/// ```java
/// PreparedMessages messages = PreparedMessages.builder(memory).build();
/// try (PreparedMessage news = messages.text(json)) {
///     for (Channel each : channels) {
///         PreparedMessageHandler.of(each).write(news);
///     }
/// }
/// ```
///
/// Immutable; any number of threads may prepare.
public final class PreparedMessages {

    private static final int TEXT = 1;
    private static final int BINARY = 2;

    private final MemorySource memory;
    private final int level;
    private final long fragment;

    private PreparedMessages(Builder settings) {
        this.memory = settings.memory;
        this.level = settings.level;
        this.fragment = settings.fragment;
    }

    /// Settings: compression as the JDK does it by default where a channel has agreed to it, frames of at most 1 MiB.
    ///
    /// @param memory for frames and compressed forms; it outlives the messages
    /// @return for settings of one's own
    public static Builder builder(MemorySource memory) {
        return new Builder(memory);
    }

    /// A text message.
    ///
    /// @param text its characters
    /// @return to be closed
    /// @throws IllegalArgumentException if it has half a surrogate pair, which UTF-8 cannot say
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public PreparedMessage text(String text) {
        SealedBuffer utf8 = Utf8Check.sealed(memory, text);
        return Parts.into(List.of(utf8), () -> new PreparedMessage(this, TEXT, utf8, true));
    }

    /// A text message of bytes that are checked.
    ///
    /// @param utf8 open; the handle stays the caller's
    /// @return to be closed
    /// @throws IllegalArgumentException if it is not UTF-8, which clients refuse
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public PreparedMessage text(SealedBuffer utf8) {
        Utf8Check.check(utf8);
        return new PreparedMessage(this, TEXT, utf8, true);
    }

    /// A binary message.
    ///
    /// @param bytes open; the handle stays the caller's
    /// @return to be closed
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public PreparedMessage binary(SealedBuffer bytes) {
        return new PreparedMessage(this, BINARY, bytes, true);
    }

    /// A text message that is never compressed: for one that has a secret beside what an attacker may choose, since
    /// its compressed length tells of the secret (CRIME, BREACH), and for what is compressed already.
    ///
    /// @param utf8 open; the handle stays the caller's
    /// @return to be closed
    /// @throws IllegalArgumentException if it is not UTF-8, which clients refuse
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public PreparedMessage textUncompressed(SealedBuffer utf8) {
        Utf8Check.check(utf8);
        return new PreparedMessage(this, TEXT, utf8, false);
    }

    /// A binary message that is never compressed, as [#textUncompressed].
    ///
    /// @param bytes open; the handle stays the caller's
    /// @return to be closed
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public PreparedMessage binaryUncompressed(SealedBuffer bytes) {
        return new PreparedMessage(this, BINARY, bytes, false);
    }

    MemorySource memory() {
        return memory;
    }

    int level() {
        return level;
    }

    long fragment() {
        return fragment;
    }

    @Override
    public String toString() {
        return "PreparedMessages[level=" + level + " fragment=" + fragment + "]";
    }

    /// Settings of prepared messages.
    public static final class Builder {

        private final MemorySource memory;
        private int level = Deflater.DEFAULT_COMPRESSION;
        private long fragment = 1 << 20;

        private Builder(MemorySource memory) {
            this.memory = Objects.requireNonNull(memory, "memory");
        }

        /// How hard to compress.
        ///
        /// @param compression 1, fast, to 9, short
        /// @return this builder
        /// @throws IllegalArgumentException if it is not
        public Builder level(int compression) {
            if (compression < Deflater.BEST_SPEED || compression > Deflater.BEST_COMPRESSION) {
                throw new IllegalArgumentException("level is not from 1 to 9: level=" + compression);
            }
            level = compression;
            return this;
        }

        /// The most bytes of a frame. A longer message goes out in several frames, between which pings, pongs and a
        /// close pass.
        ///
        /// @param bytes at least 1024; by default 1 MiB
        /// @return this builder
        /// @throws IllegalArgumentException if it is less
        public Builder fragment(long bytes) {
            if (bytes < 1024) {
                throw new IllegalArgumentException("fragment is less than 1024 bytes: fragment=" + bytes);
            }
            fragment = bytes;
            return this;
        }

        /// A factory with these settings.
        ///
        /// @return with these settings
        public PreparedMessages build() {
            return new PreparedMessages(this);
        }
    }
}
