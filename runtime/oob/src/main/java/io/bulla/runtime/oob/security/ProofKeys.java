// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.KDF;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;

/// The keys of proofs: one for each rank in each role, out of the job's secret, by HKDF with SHA-256 (RFC 5869).
///
/// ```
/// job's key  = HKDF-Extract(salt = "bulla oob secret 1", secret)
/// proof key  = HKDF-Expand(job's key, "bulla oob proof" 0 JOB 0 role rank, 32 bytes)      role 1 byte, rank 4
/// proof      = HMAC-SHA-256(proof key, what is proven)
/// ```
final class ProofKeys {

    private static final byte[] SALT = "bulla oob secret 1".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LABEL = "bulla oob proof".getBytes(StandardCharsets.US_ASCII);
    private static final int KEY_BYTES = 32;
    private static final String MAC = "HmacSHA256";

    static final int PROOF_BYTES = 32;

    private final SecretKey job;
    private final byte[] name;

    private ProofKeys(SecretKey job, byte[] name) {
        this.job = job;
        this.name = name;
    }

    static ProofKeys of(byte[] secret, String job) {
        try {
            return new ProofKeys(
                    hkdf().deriveKey(
                                    "Generic",
                                    HKDFParameterSpec.ofExtract()
                                            .addIKM(secret)
                                            .addSalt(SALT)
                                            .extractOnly()),
                    job.getBytes(StandardCharsets.US_ASCII));
        } catch (GeneralSecurityException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    /// @param role of the one who proves
    /// @param rank of the one who proves
    byte[] proof(byte role, int rank, byte[] proven) {
        byte[] info = ByteBuffer.allocate(LABEL.length + 1 + name.length + 1 + 1 + Integer.BYTES)
                .put(LABEL)
                .put((byte) 0)
                .put(name)
                .put((byte) 0)
                .put(role)
                .putInt(rank)
                .array();
        try {
            SecretKey key = hkdf().deriveKey(MAC, HKDFParameterSpec.expandOnly(job, info, KEY_BYTES));
            Mac mac = Mac.getInstance(MAC);
            mac.init(key);
            return mac.doFinal(proven);
        } catch (GeneralSecurityException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    private static KDF hkdf() throws GeneralSecurityException {
        return KDF.getInstance("HKDF-SHA256");
    }
}
