// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.certificates.CertificateAuthority;
import io.bulla.runtime.oob.internal.certificates.Certificates;
import io.bulla.runtime.oob.internal.certificates.Pem;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files that a node is started with: each mistake has its line, none of which shows what is secret.
class TlsFilesTest {

    @TempDir
    Path folder;

    private CertificateAuthority authority;
    private CertificateAuthority.Issued issued;
    private Path ca;
    private Path chain;
    private Path key;

    @BeforeEach
    void goodFiles() throws IOException {
        authority = Trial.authority("trial", Duration.ofDays(1));
        issued = authority.issue(7);
        ca = Files.writeString(folder.resolve("ca.pem"), authority.certificatePem());
        chain = Files.writeString(folder.resolve("rank-7.pem"), issued.certificatePem());
        key = Trial.secret(folder, issued.keyPem());
    }

    @Test
    void goodFilesMakeTheNodeThatTheyName() throws Exception {
        TlsCertificates node = TlsCertificates.ofFiles(ca, chain, key);
        assertEquals(new PeerIdentity("trial", 7), node.self());
        assertEquals("tls bulla://trial/rank/7", node.toString());
    }

    @Test
    void keyThatOthersMayReadIsRefused() throws Exception {
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
        assertEquals(
                "secret file is open to others: file=" + key + " permissions=rw-r----- wanted=rw-------", refused());
    }

    /// Only root may give a file away.
    @Test
    @Needs(Piece.ROOT)
    void keyOfAnotherUserIsRefused() throws Exception {
        UserPrincipal self = Files.getOwner(key);
        UserPrincipal another =
                key.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
        Files.setOwner(key, another);
        assertEquals("secret file is another user's: file=" + key + " owner=nobody self=" + self, refused());
    }

    @Test
    void filesThatAreMissingAreNamed() throws Exception {
        for (Path file : List.of(ca, chain, key)) {
            byte[] content = Files.readAllBytes(file);
            Files.delete(file);
            assertEquals("no such file: file=" + file, refused());
            Files.write(file, content);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
    }

    @Test
    void filesThatAreSomethingElseAreNamed() throws Exception {
        Files.writeString(key, issued.certificatePem());
        assertEquals("no key in the file, wanted -----BEGIN PRIVATE KEY-----: file=" + key, refused());
        Files.writeString(key, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
        assertEquals("not a key of PKCS #8 (EC, RSA, EdDSA): file=" + key, refused());
        Files.writeString(ca, "");
        assertEquals("no certificate in the file: file=" + ca, refused(issued.keyPem()));
        Files.writeString(chain, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        assertEquals("not certificates in PEM: file=" + chain, refused());
        Files.write(chain, new byte[2 << 20]);
        assertEquals("file is too large: file=" + chain + " limit=1048576", refused());
    }

    @Test
    void nodeInTheAuthorityFileIsRefused() throws Exception {
        Files.writeString(ca, authority.certificatePem() + issued.certificatePem());
        assertEquals("not an authority's certificate: subject=CN=trial rank 7 file=" + ca, refused());
    }

    @Test
    void keyOfAnotherNodeIsRefused() throws Exception {
        assertEquals(
                "key is not the certificate's: file=" + key,
                refused(authority.issue(7).keyPem()));
    }

    @Test
    void certificateThatThePeersWouldRefuseIsRefusedAtOnce() throws Exception {
        Files.writeString(ca, Trial.authority("trial", Duration.ofDays(1)).certificatePem());
        assertEquals(
                "own certificate is refused: names=bulla://trial/rank/7"
                        + " reason=Path does not chain with any of the trust anchors: file=" + chain,
                refused());
        Trial old = new Trial(folder, Trial.authority("trial", Duration.ofDays(-1)));
        assertTrue(assertThrows(IOException.class, () -> old.node(7))
                .getMessage()
                .startsWith("own certificate is refused: names=bulla://trial/rank/7 reason=NotAfter: "));
    }

    @Test
    void certificateWithoutANodesNameIsRefused() throws Exception {
        Files.writeString(chain, authority.certificatePem());
        assertEquals("own names no node: wanted a URI bulla://JOB/rank/N: file=" + chain, refused());
    }

    @Test
    void keysOfOtherKindsWork() throws Exception {
        for (String algorithm : List.of("RSA", "Ed25519")) {
            KeyPair pair = KeyPairGenerator.getInstance(algorithm).generateKeyPair();
            KeyPair own = Certificates.newKey();
            Certificates.Validity now = new Certificates.Validity(
                    Instant.now().minusSeconds(60), Instant.now().plusSeconds(600));
            X509Certificate root = Certificates.authority("root", own, now);
            X509Certificate node = Certificates.node("trial", 2, pair.getPublic(), "root", own, now);
            Files.writeString(ca, Pem.of(List.of(root)));
            Files.writeString(chain, Pem.of(List.of(node)));
            Files.writeString(key, Pem.of(pair.getPrivate()));
            assertEquals(2, TlsCertificates.ofFiles(ca, chain, key).self().rank(), algorithm);
        }
    }

    private String refused(String keyPem) throws IOException {
        Files.writeString(key, keyPem);
        return refused();
    }

    /// The message; neither it nor the trace quotes the key.
    private String refused() {
        IOException refused = assertThrows(IOException.class, () -> TlsCertificates.ofFiles(ca, chain, key));
        StringWriter trace = new StringWriter();
        refused.printStackTrace(new PrintWriter(trace));
        String secret =
                Base64.getEncoder().encodeToString(issued.key().getEncoded()).substring(40, 70);
        assertFalse(trace.toString().contains(secret), trace.toString());
        return refused.getMessage();
    }
}
