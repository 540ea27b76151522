// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.certificates.Certificates;
import io.bulla.runtime.oob.internal.certificates.Der;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Who is let in by a certificate, and what both ends say of one who is not.
class TlsCertificatesTest {

    private static final String REFUSED = "tls: the peer refused: alert=";

    @TempDir
    Path folder;

    private Trial trial;

    @BeforeEach
    void job() {
        trial = Trial.in(folder, "trial");
    }

    @Test
    void nodesOfOneJobKnowEachOtherByTheirRank() throws Exception {
        TlsCertificates one = trial.node(1);
        try (Duo duo = new Duo(one).connect(trial.node(0), 1)) {
            assertEquals("from who connects", duo.accepts.nextRead());
            assertEquals("from who accepts", duo.connects.nextRead());
            Channel accepted = duo.accepts.channel();
            assertEquals(0, one.peerOf(accepted));
            assertEquals(1, one.peerOf(duo.connects.channel()));
            assertEquals(
                    "TLSv1.3",
                    accepted.pipeline()
                            .get(SslHandler.class)
                            .engine()
                            .getSession()
                            .getProtocol());
        }
    }

    @Test
    void noPeerIsKnownBeforeTheHandshake() throws Exception {
        TlsCertificates one = trial.node(1);
        EmbeddedChannel fresh = new EmbeddedChannel();
        one.secure(fresh, false, Security.UNKNOWN);
        assertEquals(
                "the peer has not proven who it is: remote=embedded",
                assertThrows(IOException.class, () -> one.peerOf(fresh)).getMessage());
        assertThrows(IOException.class, fresh::finishAndReleaseAll);
    }

    @Test
    void certificateOfAnotherAuthorityIsRefused() throws Exception {
        TlsCertificates stranger = Trial.in(folder, "trial").node(0);
        try (Duo duo = new Duo(trial.node(1)).connect(stranger, 1)) {
            // who connects looks first
            assertEquals(
                    "tls: the peer's certificate is refused: names=bulla://trial/rank/1"
                            + " reason=Path does not chain with any of the trust anchors",
                    duo.connects.nextWrong());
            assertEquals(REFUSED + "certificate_unknown", duo.accepts.nextWrong());
            assertNothingWasRead(duo);
        }
    }

    @Test
    void strangerWhoTrustsEverybodyIsRefused() throws Exception {
        try (Duo duo = new Duo(trial.node(1)).connect(new Credulous(null), 1)) {
            assertTrue(duo.accepts.nextWrong().startsWith("tls: "), "no certificate");
            assertEquals(REFUSED + "certificate_required", duo.connects.nextWrong());
            assertNothingWasRead(duo);
        }
        try (Duo duo = new Duo(trial.node(1))
                .connect(new Credulous(Trial.in(folder, "trial").authority().issue(0)), 1)) {
            assertEquals(
                    "tls: the peer's certificate is refused: names=bulla://trial/rank/0"
                            + " reason=Path does not chain with any of the trust anchors",
                    duo.accepts.nextWrong());
            assertEquals(REFUSED + "certificate_unknown", duo.connects.nextWrong());
            assertNothingWasRead(duo);
        }
    }

    @Test
    void anotherRankThanTheOneCalledIsRefused() throws Exception {
        try (Duo duo = new Duo(trial.node(1)).connect(trial.node(0), 2)) {
            assertEquals(
                    "tls: the peer's certificate is another node's: names=bulla://trial/rank/1 called=2",
                    duo.connects.nextWrong());
            assertEquals(REFUSED + "certificate_unknown", duo.accepts.nextWrong());
            assertNothingWasRead(duo);
        }
    }

    @Test
    void nodeOfAnotherJobOfTheSameAuthorityIsRefused() throws Exception {
        MemberTrust trust = MemberTrust.of(List.of(trial.authority().certificate()), "another");
        try (Duo duo =
                new Duo(trial.node(1)).connect(new Credulous(trial.authority().issue(0), trust), 1)) {
            assertEquals(
                    "tls: the peer's certificate is of another job: names=bulla://trial/rank/1 job=another",
                    duo.connects.nextWrong());
            assertEquals(REFUSED + "certificate_unknown", duo.accepts.nextWrong());
        }
    }

    @Test
    void certificateThatExpiresWhileANodeRunsIsRefusedFromThenOn() throws Exception {
        Trial brief = new Trial(folder, Trial.authority("trial", Duration.ofSeconds(2)));
        TlsCertificates zero = brief.node(0);
        try (Duo duo = new Duo(brief.node(1)).connect(zero, 1)) {
            assertEquals("from who connects", duo.accepts.nextRead());
            Thread.sleep(3000);
            duo.connect(zero, 1);
            String line = duo.connects.nextWrong();
            assertTrue(
                    line.startsWith(
                            "tls: the peer's certificate is refused: names=bulla://trial/rank/1 reason=NotAfter: "),
                    line);
            assertEquals(REFUSED + "certificate_expired", duo.accepts.nextWrong());
        }
    }

    @Test
    void peerThatDoesNotSpeakTlsIsRefusedWithoutQuotingIt() throws Exception {
        try (Duo duo = new Duo(trial.node(1));
                Socket plain =
                        new Socket(duo.address().getAddress(), duo.address().getPort())) {
            plain.getOutputStream().write("the secret plan".getBytes(StandardCharsets.US_ASCII));
            assertEquals("tls: the peer does not speak it", duo.accepts.nextWrong());
        }
    }

    @Test
    void plaintextHelloThatLooksLikeAnOldRecordIsRefusedAtOnce() throws Exception {
        try (Duo duo = new Duo(trial.node(1));
                Socket plain =
                        new Socket(duo.address().getAddress(), duo.address().getPort())) {
            // the header of a hello: version 3 stands where SSL 2 has its version
            plain.getOutputStream().write(new byte[] {'B', 'u', 'l', 'a', 3, 0, 0, 0});
            assertEquals("tls: the peer does not speak it", duo.accepts.nextWrong());
        }
    }

    @Test
    void resumedSessionIsCheckedAsAFreshOne() throws Exception {
        Instant now = Instant.now();
        AtomicReference<Instant> clock = new AtomicReference<>(now);
        TlsCertificates node = trial.node(trial.authority().issue(1), clock::get);
        SSLContext client = Attackers.context(trial.authority().issue(0));
        try (Duo duo = new Duo(node)) {
            long first = greeted(client, duo);
            assertEquals("once more", duo.accepts.nextRead());
            long second = greeted(client, duo);
            assertEquals("once more", duo.accepts.nextRead());
            assertEquals(first, second, "the client resumes its session");
            clock.set(now.plus(Duration.ofDays(2)));
            assertThrows(IOException.class, () -> greeted(client, duo));
            String line = duo.accepts.nextWrong();
            assertTrue(
                    line.startsWith(
                            "tls: the peer's certificate is refused: names=bulla://trial/rank/0 reason=NotAfter: "),
                    line);
            assertNull(duo.accepts.read.poll());
        }
    }

    /// Connects, reads the greeting, and with it the ticket for the next time.
    ///
    /// @return when the session was made
    private static long greeted(SSLContext client, Duo duo) throws IOException {
        try (Socket socket = client.getSocketFactory()
                .createSocket(duo.address().getAddress(), duo.address().getPort())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream().write("once more".getBytes(StandardCharsets.US_ASCII));
            byte[] greeting = socket.getInputStream().readNBytes("from who accepts".length());
            if (greeting.length == 0) {
                throw new IOException("no greeting");
            }
            assertEquals("from who accepts", new String(greeting, StandardCharsets.US_ASCII));
            return ((SSLSocket) socket).getSession().getCreationTime();
        }
    }

    @Test
    void certificateWithoutAPurposeIsRefused() throws Exception {
        KeyPair root = Certificates.newKey();
        KeyPair key = Certificates.newKey();
        Certificates.Validity valid = new Certificates.Validity(
                Instant.now().minusSeconds(60), Instant.now().plusSeconds(600));
        X509Certificate ca = Certificates.authority("root", root, valid);
        byte[] uri = Der.instead(Certificates.URI_NAME, Der.ascii("bulla://trial/rank/2"));
        X509Certificate without = Certificates.sign(
                "any",
                "root",
                key.getPublic(),
                root,
                valid,
                Certificates.extension(Certificates.ALTERNATIVE_NAMES, false, Der.sequence(uri)));
        MemberTrust trust = MemberTrust.of(List.of(ca), "trial");
        X509Certificate[] chain = {without};
        for (boolean connecting : new boolean[] {true, false}) {
            assertEquals(
                    "certificate is refused: names=bulla://trial/rank/2"
                            + " reason=no purpose, wanted serverAuth and clientAuth",
                    assertThrows(CertificateException.class, () -> trust.recheck(chain, connecting))
                            .getMessage());
        }
    }

    @Test
    void rotatedFilesAreUsedByTheNextConnection() throws Exception {
        Trial next = Trial.in(folder, "trial");
        TlsCertificates one = trial.node(1);
        try (Duo duo = new Duo(one).connect(trial.node(0), 1)) {
            assertEquals("from who connects", duo.accepts.nextRead());
            next.rotate(one, 1);
            duo.connect(next.node(0), 1);
            assertEquals("from who connects", duo.accepts.nextRead());
            duo.connect(trial.node(0), 1);
            assertTrue(
                    duo.connects.nextWrong().contains("Path does not chain"), "the old authority is trusted no more");
        }
    }

    @Test
    void rotationToAnotherNodeIsRefusedAndChangesNothing() throws Exception {
        TlsCertificates one = trial.node(1);
        String refused =
                assertThrows(IOException.class, () -> trial.rotate(one, 2)).getMessage();
        assertTrue(
                refused.startsWith("own certificate is another node's: names=bulla://trial/rank/2"
                        + " self=bulla://trial/rank/1: file="),
                refused);
        try (Duo duo = new Duo(one).connect(trial.node(0), 1)) {
            assertEquals("from who connects", duo.accepts.nextRead());
        }
    }

    @Test
    void connectionThatEndsInTheHandshakeSaysSo() throws Exception {
        try (Duo duo = new Duo(trial.node(1))) {
            new Socket(duo.address().getAddress(), duo.address().getPort()).close();
            assertEquals("tls: connection closed in the handshake", duo.accepts.nextWrong());
        }
    }

    private static void assertNothingWasRead(Duo duo) {
        assertNull(duo.accepts.read.poll());
        assertNull(duo.connects.read.poll());
        assertNull(duo.accepts.wrong.poll(), "one line");
        assertNull(duo.connects.wrong.poll(), "one line");
    }
}
