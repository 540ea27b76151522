// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.security.OriginSignatures;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;

/// A broadcast's bytes with its origin's signature behind them, which relays hand on as they are.
///
/// ```
/// +-- bytes of the program --+-- signature --+-- length of the signature, 4 bytes --+
/// ```
///
/// The signature is of a statement, which begins with words that no other signature of the same key begins with (RFC
/// 8446, section 4.4.3, does the same): then origin 4 bytes, session 8, number 8, tag 4, format 2, length 8, and the
/// SHA-256 digest of the bytes, all big-endian.
public final class SignedBytes {

    private static final byte[] WORDS = "bulla broadcast 1\0".getBytes(StandardCharsets.US_ASCII);
    private static final int REST = 4 + 8 + 8 + 4 + 2 + 8 + 32;

    private SignedBytes() {}

    /// The words of an origin about a broadcast. Reads all bytes.
    ///
    /// @param mark how they are packed, without other flags
    public static byte[] statement(BroadcastKey key, int tag, int mark, SealedBuffer bytes) {
        return ByteBuffer.allocate(WORDS.length + REST)
                .put(WORDS)
                .putInt(key.origin())
                .putLong(key.session())
                .putLong(key.number())
                .putInt(tag)
                .putShort((short) mark)
                .putLong(bytes.byteSize())
                .put(digest(bytes))
                .array();
    }

    private static byte[] digest(SealedBuffer bytes) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            // the handle is open until this returns
            for (ByteBuffer region : bytes.iovec().lent().asByteBuffers()) {
                digest.update(region);
            }
            return digest.digest();
        } catch (GeneralSecurityException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    /// Puts a signature behind the bytes, which are not copied.
    ///
    /// @param bytes stay the caller's
    /// @return a handle of the caller's
    public static SealedBuffer join(SealedBuffer bytes, byte[] signature, MemorySource source) {
        SealedBuffer joined = null;
        boolean given = false;
        try {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, signature.length + Integer.BYTES);
                    SealedBuffer behind =
                            builder.put(signature).putInt(signature.length).seal()) {
                joined = SealedBuffer.concat(bytes, behind);
            }
            given = true;
            return joined;
        } finally {
            // the close of the signature's own handle may have failed
            if (!given && joined != null) {
                joined.close();
            }
        }
    }

    /// The signature behind the bytes.
    ///
    /// @throws IOException if there cannot be one
    public static byte[] signature(SealedBuffer joined) throws IOException {
        long end = joined.byteSize() - Integer.BYTES;
        long length = end < 0 ? -1 : BufferReader.of(joined).position(end).getInt();
        if (length < 0 || length > OriginSignatures.MOST_BYTES || length > end) {
            throw new IOException("signature's length is outside: length=" + length + " most="
                    + Math.min(end, OriginSignatures.MOST_BYTES));
        }
        return BufferReader.of(joined).position(end - length).getBytes(length);
    }

    /// The bytes without a signature of so many bytes.
    ///
    /// @return a handle of the caller's
    public static SealedBuffer bytes(SealedBuffer joined, int signature) {
        return joined.slice(0, joined.byteSize() - Integer.BYTES - signature);
    }
}
