// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

/// What is sent over a distance: short messages that say which they are, and long ones of which no two parts are
/// alike.
final class Content {

    private static final int PART = 32 << 10;
    private static final byte[] RANDOM = new byte[2 * PART];

    static {
        new SplittableRandom(7).nextBytes(RANDOM);
    }

    private Content() {}

    /// @param bytes at least 4
    static byte[] message(int index, int bytes) {
        byte[] message = new byte[bytes];
        Arrays.fill(message, (byte) index);
        ByteBuffer.wrap(message).putInt(index);
        return message;
    }

    static boolean isMessage(byte[] message, int index) {
        return Arrays.equals(message, message(index, message.length));
    }

    /// @param index which message it is; at its begin, so that the receiver can tell
    static SealedBuffer whole(MemorySource memory, int index, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, bytes)) {
            builder.putInt(index);
            int left = bytes - Integer.BYTES;
            for (int part = 0; left > 0; part++) {
                int length = Math.min(left, PART);
                builder.put(RANDOM, begin(part), length);
                left -= length;
            }
            return builder.seal();
        }
    }

    // each part begins at another place of the random bytes
    private static int begin(int part) {
        return part * 31 % PART;
    }

    static boolean isWhole(SealedBuffer message, int index) {
        long at = -Integer.BYTES;
        for (ByteBuffer region : message.iovec().asByteBuffers()) {
            if (at < 0) {
                if (region.getInt() != index) {
                    return false;
                }
                at = 0;
            }
            while (region.hasRemaining()) {
                int within = (int) (at % PART);
                int length = Math.min(region.remaining(), PART - within);
                int from = begin((int) (at / PART)) + within;
                ByteBuffer same = region.slice(region.position(), length);
                if (same.mismatch(ByteBuffer.wrap(RANDOM, from, length)) >= 0) {
                    return false;
                }
                region.position(region.position() + length);
                at += length;
            }
        }
        return at == message.byteSize() - Integer.BYTES;
    }
}
