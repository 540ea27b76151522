// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/// SHA-256 of files, CRC32C of records.
final class Digests {

    private Digests() {}

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException noJdk) {
            throw new IllegalStateException("every JDK has SHA-256", noJdk);
        }
    }

    /// Once.
    ///
    /// @return 64 hex digits
    static String text(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    /// @param bytes read from their position to their limit, which stay
    static int crc(ByteBuffer... bytes) {
        CRC32C crc = new CRC32C();
        for (ByteBuffer each : bytes) {
            crc.update(each.duplicate());
        }
        return (int) crc.getValue();
    }
}
