// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// A client ends the connection at text that is not UTF-8 (RFC 6455, 8.1): so it is looked at once, when it is
/// prepared.
final class Utf8Check {

    private static final int STEP = 1024;
    // bytes of a character, which a region's end may cut
    private static final int LONGEST = 4;

    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    private final CharBuffer thrownAway = CharBuffer.allocate(STEP);
    private long done;

    private Utf8Check() {}

    /// @throws IllegalArgumentException if it is not UTF-8
    static void check(SealedBuffer text) {
        new Utf8Check().all(text);
    }

    /// @throws IllegalArgumentException if it has half a surrogate pair, which UTF-8 cannot say
    static void check(String text) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new IllegalArgumentException("text has half a surrogate pair: length=" + text.length());
        }
    }

    /// A text in UTF-8.
    ///
    /// @return to be closed
    /// @throws IllegalArgumentException if it has half a surrogate pair, which UTF-8 cannot say
    static SealedBuffer sealed(MemorySource memory, String text) {
        check(text);
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            return builder.putString(text, StandardCharsets.UTF_8).seal();
        }
    }

    private void all(SealedBuffer text) {
        ByteBuffer cut = ByteBuffer.allocate(LONGEST).limit(0);
        ByteBuffer[] regions = text.iovec().lent().asByteBuffers();
        for (ByteBuffer region : regions) {
            while (cut.hasRemaining() && region.hasRemaining()) {
                // as many bytes as it takes to know
                cut.compact().put(region.get()).flip();
                decode(cut, false);
            }
            if (!cut.hasRemaining()) {
                decode(region, false);
                cut.clear().put(region).flip();
            }
        }
        decode(cut, true);
        if (decoder.flush(thrownAway.clear()).isError()) {
            throw malformed();
        }
        Reference.reachabilityFence(text);
    }

    private void decode(ByteBuffer bytes, boolean last) {
        CoderResult result;
        do {
            int before = bytes.position();
            result = decoder.decode(bytes, thrownAway.clear(), last);
            done += bytes.position() - before;
        } while (result.isOverflow());
        if (result.isError()) {
            throw malformed();
        }
    }

    private IllegalArgumentException malformed() {
        return new IllegalArgumentException("text is not UTF-8: byte=" + done);
    }
}
