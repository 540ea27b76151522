// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.certificates.Certificates;
import io.bulla.runtime.oob.internal.certificates.Certificates.Validity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class CertificateSignaturesTest {

    private static final byte[] STATEMENT = "what a node says".getBytes(StandardCharsets.US_ASCII);
    private static final Instant NOW = Instant.now();
    private static final Validity DAY = new Validity(NOW.minusSeconds(3600), NOW.plus(Duration.ofDays(1)));

    private final KeyPair authorityKey = Certificates.newKey();
    private final X509Certificate authority = Certificates.authority("authority", authorityKey, DAY);
    private Instant time = NOW;

    private MemberTrust trust(X509Certificate in) {
        return MemberTrust.of(List.of(in), "trial", () -> time);
    }

    private X509Certificate certificate(int rank, KeyPair key, Validity validity) {
        return Certificates.node("trial", rank, key.getPublic(), "authority", authorityKey, validity);
    }

    private static CertificateSignatures.Material material(KeyPair key, MemberTrust trust, X509Certificate... chain)
            throws Exception {
        return new CertificateSignatures.Material(new SigningKey(key.getPrivate()), ShownChain.encode(chain), trust);
    }

    private CertificateSignatures signatures(CertificateSignatures.Material material) {
        return new CertificateSignatures(() -> material, () -> time);
    }

    private CertificateSignatures node(int rank, KeyPair key) throws Exception {
        return signatures(material(key, trust(authority), certificate(rank, key, DAY)));
    }

    private static String refusal(CertificateSignatures by, int origin, byte[] statement, byte[] signature) {
        return assertThrows(IOException.class, () -> by.check(origin, statement, signature))
                .getMessage();
    }

    private static KeyPair key(String algorithm, String detail) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        if (algorithm.equals("EC")) {
            generator.initialize(new ECGenParameterSpec(detail));
        } else if (algorithm.startsWith("RSA")) {
            generator.initialize(Integer.parseInt(detail));
        }
        return generator.generateKeyPair();
    }

    @Test
    void everyKindOfKeySigns() throws Exception {
        String[][] kinds = {
            {"EC", "secp256r1"},
            {"EC", "secp384r1"},
            {"Ed25519", ""},
            {"Ed448", ""},
            {"RSA", "2048"},
            {"RSASSA-PSS", "2048"}
        };
        for (String[] kind : kinds) {
            CertificateSignatures node = node(3, key(kind[0], kind[1]));
            byte[] signature = node.sign(STATEMENT);
            node.check(3, STATEMENT, signature);
            byte[] other = STATEMENT.clone();
            other[2] ^= 1;
            assertEquals("signature is of something else: origin=3", refusal(node, 3, other, signature), kind[0]);
        }
    }

    @Test
    void certificateThatIsKnownIsAnotherRanksStill() throws Exception {
        CertificateSignatures node = node(3, Certificates.newKey());
        byte[] signature = node.sign(STATEMENT);
        node.check(3, STATEMENT, signature);
        assertEquals(
                "origin's certificate is another node's: names=bulla://trial/rank/3 called=4",
                refusal(node, 4, STATEMENT, signature));
    }

    @Test
    void certificateThatIsKnownEnds() throws Exception {
        KeyPair key = Certificates.newKey();
        Validity hour = new Validity(NOW.minusSeconds(60), NOW.plusSeconds(3600));
        CertificateSignatures node = signatures(material(key, trust(authority), certificate(3, key, hour)));
        byte[] signature = node.sign(STATEMENT);
        node.check(3, STATEMENT, signature);
        time = NOW.plusSeconds(3601);
        String refusal = refusal(node, 3, STATEMENT, signature);
        assertTrue(refusal.startsWith("origin's certificate is refused: names=bulla://trial/rank/3"), refusal);
    }

    @Test
    void certificateThatIsKnownIsRefusedOnceItsAuthorityIsNotTrusted() throws Exception {
        KeyPair key = Certificates.newKey();
        AtomicReference<CertificateSignatures.Material> material =
                new AtomicReference<>(material(key, trust(authority), certificate(3, key, DAY)));
        CertificateSignatures node = new CertificateSignatures(material::get, () -> time);
        byte[] signature = node.sign(STATEMENT);
        node.check(3, STATEMENT, signature);
        X509Certificate next = Certificates.authority("authority", Certificates.newKey(), DAY);
        material.set(material(key, trust(next), certificate(3, key, DAY)));
        String refusal = refusal(node, 3, STATEMENT, signature);
        assertTrue(refusal.startsWith("origin's certificate is refused: names=bulla://trial/rank/3"), refusal);
    }

    @Test
    void rotatedKeySignsFromNowOn() throws Exception {
        KeyPair first = Certificates.newKey();
        KeyPair second = key("Ed25519", "");
        MemberTrust trust = trust(authority);
        AtomicReference<CertificateSignatures.Material> material =
                new AtomicReference<>(material(first, trust, certificate(3, first, DAY)));
        CertificateSignatures node = new CertificateSignatures(material::get, () -> time);
        byte[] before = node.sign(STATEMENT);
        material.set(material(second, trust, certificate(3, second, DAY)));
        byte[] after = node.sign(STATEMENT);
        CertificateSignatures receiver = node(5, Certificates.newKey());
        receiver.check(3, STATEMENT, before);
        receiver.check(3, STATEMENT, after);
        receiver.check(3, STATEMENT, before);
        // one key's signature behind the other's certificate
        byte[] mixed = Arrays.copyOf(before, before.length + 1);
        assertEquals("signature is of something else: origin=3", refusal(receiver, 3, STATEMENT, mixed));
    }

    @Test
    void signatureThatEndsAnywhereIsRefused() throws Exception {
        CertificateSignatures node = node(3, Certificates.newKey());
        byte[] signature = node.sign(STATEMENT);
        for (int length = 0; length < signature.length; length++) {
            refusal(node, 3, STATEMENT, Arrays.copyOf(signature, length));
        }
    }

    @Test
    void certificatesThatAreTooManyAreNotShown() {
        KeyPair key = Certificates.newKey();
        X509Certificate[] chain = Collections.nCopies(ShownChain.MOST + 1, certificate(3, key, DAY))
                .toArray(X509Certificate[]::new);
        assertEquals(
                "certificates to sign with: count=5 most=4",
                assertThrows(CertificateException.class, () -> ShownChain.encode(chain))
                        .getMessage());
    }
}
