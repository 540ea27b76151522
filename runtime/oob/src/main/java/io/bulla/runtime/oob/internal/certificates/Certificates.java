// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.certificates;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Arrays;
import javax.security.auth.x500.X500Principal;

/// Writes certificates: X.509 version 3 (RFC 5280), keys on the curve P-256, signed with ECDSA and SHA-256.
///
/// The JDK reads certificates, signs and makes keys, and has no public way to put a certificate together; what is
/// missing is the form, a page of DER. No library is worth its megabytes for that.
public final class Certificates {

    private static final byte[] ECDSA_WITH_SHA256 = Der.sequence(Der.oid("1.2.840.10045.4.3.2"));
    private static final String BASIC_CONSTRAINTS = "2.5.29.19";
    private static final String KEY_USAGE = "2.5.29.15";
    private static final String EXTENDED_KEY_USAGE = "2.5.29.37";
    public static final String ALTERNATIVE_NAMES = "2.5.29.17";
    private static final String SUBJECT_KEY = "2.5.29.14";
    private static final String AUTHORITY_KEY = "2.5.29.35";
    private static final String SERVER = "1.3.6.1.5.5.7.3.1";
    private static final String CLIENT = "1.3.6.1.5.5.7.3.2";
    public static final int URI_NAME = 6;
    private static final int KEY_ID_BYTES = 20;

    private Certificates() {}

    /// From when until when; certificates count in seconds.
    public record Validity(Instant from, Instant until) {

        /// Checks the times.
        public Validity {
            if (!from.isBefore(until)) {
                throw new IllegalArgumentException("validity ends before it begins: from=" + from + " until=" + until);
            }
        }
    }

    public static KeyPair newKey() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    /// For an authority, which signs it itself, and nothing but nodes' certificates with it.
    public static X509Certificate authority(String name, KeyPair key, Validity validity) {
        return sign(
                name,
                name,
                key.getPublic(),
                key,
                validity,
                extension(BASIC_CONSTRAINTS, true, Der.sequence(Der.yes(), Der.integer(BigInteger.ZERO))),
                // to sign certificates and lists of revoked ones
                extension(KEY_USAGE, true, Der.bits(1, (byte) 0b0000_0110)),
                extension(SUBJECT_KEY, false, Der.octets(keyId(key.getPublic()))));
    }

    /// For a node.
    public static X509Certificate node(
            String job, int rank, PublicKey key, String authority, KeyPair authorityKey, Validity validity) {
        return sign(
                job + " rank " + rank,
                authority,
                key,
                authorityKey,
                validity,
                extension(BASIC_CONSTRAINTS, true, Der.sequence()),
                // to sign handshakes
                extension(KEY_USAGE, true, Der.bits(7, (byte) 0b1000_0000)),
                extension(EXTENDED_KEY_USAGE, false, Der.sequence(Der.oid(SERVER), Der.oid(CLIENT))),
                extension(ALTERNATIVE_NAMES, false, Der.sequence(Der.instead(URI_NAME, Der.ascii(nameOf(job, rank))))),
                extension(SUBJECT_KEY, false, Der.octets(keyId(key))),
                extension(AUTHORITY_KEY, false, Der.sequence(Der.instead(0, keyId(authorityKey.getPublic())))));
    }

    /// The name of a node, as its peers look for it.
    static String nameOf(String job, int rank) {
        return "bulla://" + job + "/rank/" + rank;
    }

    public static X509Certificate sign(
            String subject,
            String issuer,
            PublicKey key,
            KeyPair authorityKey,
            Validity validity,
            byte[]... extensions) {
        byte[] content = Der.sequence(
                Der.around(0, Der.integer(BigInteger.TWO)), // version 3
                Der.integer(new BigInteger(127, new SecureRandom()).setBit(126)),
                ECDSA_WITH_SHA256,
                name(issuer),
                Der.sequence(Der.time(validity.from()), Der.time(validity.until())),
                name(subject),
                key.getEncoded(),
                Der.around(3, Der.sequence(extensions)));
        return read(
                Der.sequence(content, ECDSA_WITH_SHA256, Der.bits(0, signature(content, authorityKey.getPrivate()))));
    }

    private static byte[] signature(byte[] content, PrivateKey key) {
        try {
            Signature signer = Signature.getInstance("SHA256withECDSA");
            signer.initSign(key);
            signer.update(content);
            return signer.sign();
        } catch (GeneralSecurityException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    private static X509Certificate read(byte[] der) {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
        } catch (GeneralSecurityException notOne) {
            throw new IllegalStateException(notOne);
        }
    }

    private static byte[] name(String common) {
        return new X500Principal("CN=" + common).getEncoded();
    }

    public static byte[] extension(String id, boolean critical, byte[] value) {
        return critical
                ? Der.sequence(Der.oid(id), Der.yes(), Der.octets(value))
                : Der.sequence(Der.oid(id), Der.octets(value));
    }

    /// Names a key where an authority has had several; any digest will do (RFC 5280, 4.2.1.2).
    private static byte[] keyId(PublicKey key) {
        try {
            return Arrays.copyOf(MessageDigest.getInstance("SHA-256").digest(key.getEncoded()), KEY_ID_BYTES);
        } catch (GeneralSecurityException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }
}
