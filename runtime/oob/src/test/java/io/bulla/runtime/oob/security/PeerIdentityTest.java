// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.runtime.oob.internal.certificates.Certificates;
import java.security.KeyPair;
import java.security.SignatureException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Names of nodes, and how they are found in certificates.
class PeerIdentityTest {

    private static final Instant FROM = Instant.parse("2026-01-02T03:04:05Z");
    private static final Instant UNTIL = Instant.parse("2071-01-02T03:04:05Z");

    private final KeyPair key = Certificates.newKey();

    @Test
    void nodeIsNamedAndIsNoAuthority() throws Exception {
        KeyPair own = Certificates.newKey();
        X509Certificate node = Certificates.node(
                "4711.batch-3", 12, own.getPublic(), "trial authority", key, new Certificates.Validity(FROM, UNTIL));
        node.verify(key.getPublic());
        assertThrows(SignatureException.class, () -> node.verify(own.getPublic()));
        assertEquals(-1, node.getBasicConstraints());
        assertEquals("CN=4711.batch-3 rank 12", node.getSubjectX500Principal().getName());
        assertEquals("CN=trial authority", node.getIssuerX500Principal().getName());
        assertEquals(List.of("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"), node.getExtendedKeyUsage());
        assertEquals(new PeerIdentity("4711.batch-3", 12), PeerIdentity.of(node));
        assertEquals(own.getPublic(), node.getPublicKey());
        assertEquals(
                "names no node: wanted a URI bulla://JOB/rank/N",
                assertThrows(
                                CertificateException.class,
                                () -> PeerIdentity.of(
                                        Certificates.authority("x", key, new Certificates.Validity(FROM, UNTIL))))
                        .getMessage());
    }

    @Test
    void namesAreCheckedBeforeTheyAreWritten() {
        for (String job : List.of("", "a/b", "a b", "-a", "a\n", "a".repeat(64))) {
            assertThrows(IllegalArgumentException.class, () -> new PeerIdentity(job, 0), job);
        }
        assertEquals(
                "a rank is at least 0: rank=-1",
                assertThrows(IllegalArgumentException.class, () -> new PeerIdentity("a", -1))
                        .getMessage());
    }
}
