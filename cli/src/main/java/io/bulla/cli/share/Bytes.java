// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import io.bulla.buffer.SealedBuffer;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/// Computes the SHA-256 of a buffer's content.
final class Bytes {

    private Bytes() {}

    static byte[] sha256(SealedBuffer buffer) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (ByteBuffer view : buffer.iovec().lent().asByteBuffers()) {
                digest.update(view);
            }
            return digest.digest();
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new AssertionError(everyJdkHasIt);
        } finally {
            Reference.reachabilityFence(buffer);
        }
    }
}
