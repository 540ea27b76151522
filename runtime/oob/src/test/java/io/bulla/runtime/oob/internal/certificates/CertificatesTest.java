// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.certificates;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigInteger;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/// What the JDK reads in the certificates that are written here.
class CertificatesTest {

    private static final Instant FROM = Instant.parse("2026-01-02T03:04:05Z");
    // from 2050 on the year has four digits
    private static final Instant UNTIL = Instant.parse("2071-01-02T03:04:05Z");

    private final KeyPair key = Certificates.newKey();

    @Test
    void authoritySignsNodesOfItsOwnAndNothingElse() throws Exception {
        X509Certificate authority =
                Certificates.authority("trial authority", key, new Certificates.Validity(FROM, UNTIL));
        authority.verify(key.getPublic());
        assertEquals(3, authority.getVersion());
        assertEquals(0, authority.getBasicConstraints(), "no authorities below it");
        assertArrayEquals(
                new boolean[] {false, false, false, false, false, true, true, false, false}, authority.getKeyUsage());
        assertEquals(FROM, authority.getNotBefore().toInstant());
        assertEquals(UNTIL, authority.getNotAfter().toInstant());
        assertEquals("CN=trial authority", authority.getSubjectX500Principal().getName());
        assertEquals(127, authority.getSerialNumber().bitLength());
    }

    @Test
    void valuesAreAsX690SaysThem() {
        assertHex("06092a864886f70d01010b", Der.oid("1.2.840.113549.1.1.11"));
        assertHex("0603551d13", Der.oid("2.5.29.19"));
        assertHex("02020080", Der.integer(BigInteger.valueOf(128)));
        assertHex("170d3236303130323033303430355a", Der.time(FROM));
        assertHex("180f32303731303130323033303430355a", Der.time(UNTIL));
        assertHex("30820100", Arrays.copyOf(Der.sequence(new byte[256]), 4));
        assertHex("308180", Arrays.copyOf(Der.sequence(new byte[128]), 3));
        assertHex("307f", Arrays.copyOf(Der.sequence(new byte[127]), 2));
    }

    @Test
    void emptyValidityAndMissingRankAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> CertificateAuthority.create("a", UNTIL, FROM));
        CertificateAuthority authority = CertificateAuthority.create("a", FROM, UNTIL);
        assertEquals(
                "a rank is at least 0: rank=-1",
                assertThrows(IllegalArgumentException.class, () -> authority.issue(-1))
                        .getMessage());
    }

    @Test
    void issuedKeyIsNotShownByAccident() {
        CertificateAuthority.Issued issued =
                CertificateAuthority.create("a", FROM, UNTIL).issue(1);
        assertEquals("bulla://a/rank/1", issued.toString());
        assertFalse(issued.certificatePem().contains("PRIVATE"));
    }

    private static void assertHex(String wanted, byte[] value) {
        assertEquals(wanted, HexFormat.of().formatHex(value));
    }
}
