// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The proof that two ends know one secret, and those who try without.
class SecretProofTest {

    private static final String SECRET = "0123456789abcdef-of-the-job";
    private static final int PROOF = 41;
    private static final String WRONG =
            "secret: wrong proof of the job's secret: the peer has another secret, or is of another job";
    private static final String REFUSED = "secret: the peer refused this node's proof of the job's secret";

    @TempDir
    Path folder;

    @Test
    void nodesWithOneSecretKnowEachOther() throws Exception {
        SharedSecret one = node(1, SECRET, "trial");
        try (Duo duo = new Duo(one).connect(node(0, SECRET + "\n", "trial"), 1)) {
            assertEquals("from who connects", duo.accepts.nextRead());
            assertEquals("from who accepts", duo.connects.nextRead());
            assertEquals(0, one.peerOf(duo.accepts.channel()));
            assertEquals(1, one.peerOf(duo.connects.channel()));
        }
        try (Duo duo = new Duo(one).connect(node(0, SECRET, "trial"), Security.UNKNOWN)) {
            assertEquals("from who connects", duo.accepts.nextRead());
            assertEquals(1, one.peerOf(duo.connects.channel()), "called without knowing whom");
        }
    }

    @Test
    void anotherSecretOrJobIsRefusedAtBothEnds() throws Exception {
        for (Security stranger :
                new Security[] {node(0, SECRET + "?", "trial"), node(0, SECRET, "another"), node(0, SECRET, "tria")}) {
            try (Duo duo = new Duo(node(1, SECRET, "trial")).connect(stranger, 1)) {
                assertEquals(WRONG, duo.accepts.nextWrong());
                assertEquals(REFUSED, duo.connects.nextWrong());
                assertNothingWasRead(duo);
            }
        }
    }

    @Test
    void anotherRankThanTheOneCalledIsRefused() throws Exception {
        try (Duo duo = new Duo(node(1, SECRET, "trial")).connect(node(0, SECRET, "trial"), 2)) {
            assertEquals("secret: another node is called: rank=1 called=2", duo.accepts.nextWrong());
            assertEquals(REFUSED, duo.connects.nextWrong());
            assertNothingWasRead(duo);
        }
    }

    @Test
    void modesDoNotMix() throws Exception {
        TlsCertificates certified = Trial.in(folder, "trial").node(1);
        try (Duo duo = new Duo(certified).connect(node(0, SECRET, "trial"), 1)) {
            assertEquals("tls: the peer refused: alert=certificate_required", duo.connects.nextWrong());
            assertEquals("tls: (certificate_required) Empty client certificate chain", duo.accepts.nextWrong());
            assertNothingWasRead(duo);
        }
        try (Duo duo = new Duo(node(1, SECRET, "trial")).connect(certified, 1)) {
            assertEquals("tls: the peer refused: alert=certificate_unknown", duo.accepts.nextWrong());
        }
    }

    @Test
    void whoAcceptsWithoutTheSecretHearsAProofAndNothingElse() throws Exception {
        try (Duo duo = new Duo(node(1, SECRET, "trial"));
                SSLServerSocket attacker = listen()) {
            duo.connect(node(0, SECRET, "trial"), 1, Attackers.address(attacker));
            try (SSLSocket heard = (SSLSocket) attacker.accept()) {
                heard.setSoTimeout(300);
                assertEquals(PROOF, heard.getInputStream().readNBytes(PROOF).length);
                assertThrows(
                        SocketTimeoutException.class,
                        () -> heard.getInputStream().read());
            }
            assertEquals(
                    "secret: connection closed before the peer had proven to know the job's secret",
                    duo.connects.nextWrong());
        }
    }

    @Test
    void proofOfAnotherConnectionProvesNothing() throws Exception {
        try (Duo duo = new Duo(node(1, SECRET, "trial"));
                SSLServerSocket attacker = listen()) {
            duo.connect(node(0, SECRET, "trial"), 1, Attackers.address(attacker));
            byte[] proof;
            try (SSLSocket heard = (SSLSocket) attacker.accept()) {
                proof = heard.getInputStream().readNBytes(PROOF);
            }
            try (SSLSocket replayed = Attackers.connect(duo.address())) {
                replayed.getOutputStream().write(proof);
                assertEquals(WRONG, duo.accepts.nextWrong());
                assertEquals(0, replayed.getInputStream().read(), "refused, and nothing proven to it");
            }
            assertNull(duo.accepts.read.poll());
        }
    }

    @Test
    void proofSentBackProvesNothing() throws Exception {
        try (Duo duo = new Duo(node(1, SECRET, "trial"));
                SSLServerSocket attacker = listen()) {
            // of the right rank for the right one: all but the role
            duo.connect(node(0, SECRET, "trial"), 0, Attackers.address(attacker));
            try (SSLSocket heard = (SSLSocket) attacker.accept()) {
                byte[] proof = heard.getInputStream().readNBytes(PROOF);
                proof[0] = 2;
                heard.getOutputStream().write(proof);
                assertEquals(WRONG, duo.connects.nextWrong());
            }
        }
    }

    @Test
    void manInTheMiddleIsFoundOutByBoth() throws Exception {
        try (Duo duo = new Duo(node(1, SECRET, "trial"));
                SSLServerSocket attacker = listen()) {
            duo.connect(node(0, SECRET, "trial"), 1, Attackers.address(attacker));
            try (SSLSocket left = (SSLSocket) attacker.accept();
                    SSLSocket right = Attackers.connect(duo.address())) {
                Thread passing = Attackers.pass(left, right);
                Thread back = Attackers.pass(right, left);
                assertEquals(WRONG, duo.accepts.nextWrong());
                assertEquals(REFUSED, duo.connects.nextWrong());
                passing.join(10_000);
                back.join(10_000);
            }
            assertNothingWasRead(duo);
        }
    }

    @Test
    void proofMayArriveByteByByteAndNothingMayStandBeforeIt() throws Exception {
        try (Duo duo = new Duo(node(1, SECRET, "trial"));
                SSLServerSocket slow = listen()) {
            duo.connect(node(0, SECRET, "trial"), 1, Attackers.address(slow));
            try (SSLSocket heard = (SSLSocket) slow.accept()) {
                OutputStream out = heard.getOutputStream();
                for (int i = 0; i < PROOF; i++) {
                    assertNull(duo.connects.wrong.poll());
                    out.write(i == 0 ? 2 : 0);
                    out.flush();
                }
                assertEquals(WRONG, duo.connects.nextWrong());
            }
            try (SSLSocket hostile = Attackers.connect(duo.address())) {
                hostile.getOutputStream()
                        .write("a hello of a stranger, rather long, and then some more"
                                .getBytes(StandardCharsets.US_ASCII));
                assertEquals(WRONG, duo.accepts.nextWrong());
            }
            assertNothingWasRead(duo);
        }
    }

    @Test
    void whoProvesNothingIsGivenUpAndWhatWaitedFails() throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.freezeTime();
        ProofKeys keys = ProofKeys.of(SECRET.getBytes(StandardCharsets.US_ASCII), "trial");
        channel.pipeline().addLast(new SecretProof(keys, new PeerIdentity("trial", 0), false, Security.UNKNOWN));
        ByteBuf waits = Unpooled.buffer(1).writeByte(7);
        ChannelFuture written = channel.writeAndFlush(waits);
        channel.advanceTimeBy(10, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        String line = "secret: no proof of the job's secret in time: seconds=10";
        assertEquals(
                line, assertThrows(IOException.class, channel::checkException).getMessage());
        assertEquals(line, written.cause().getMessage());
        assertEquals(0, waits.refCnt());
        assertFalse(channel.isOpen());
        assertNull(channel.readOutbound());
    }

    @Test
    void secretsThatAreShortOrOpenAreRefused() throws Exception {
        Path brief = Trial.secret(folder, "fifteen bytes..\n");
        assertEquals("secret is too short: file=" + brief + " bytes=15 least=16", refused(brief));
        Path open = Trial.secret(folder, SECRET);
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw----r--"));
        assertEquals(
                "secret file is open to others: file=" + open + " permissions=rw----r-- wanted=rw-------",
                refused(open));
        Path zeros = Trial.secret(folder, "\0".repeat(16));
        assertEquals("secret is not random: file=" + zeros + " distinct-bytes=1 least=5", refused(zeros));
        assertEquals("tls-secret bulla://trial/rank/3", node(3, SECRET, "trial").toString());
    }

    private String refused(Path file) {
        return assertThrows(IOException.class, () -> SharedSecret.ofFile(file, new PeerIdentity("trial", 0)))
                .getMessage();
    }

    private SharedSecret node(int rank, String secret, String job) throws IOException {
        return SharedSecret.ofFile(Trial.secret(folder, secret), new PeerIdentity(job, rank));
    }

    private SSLServerSocket listen() throws Exception {
        return Attackers.listen();
    }

    private static void assertNothingWasRead(Duo duo) {
        assertNull(duo.accepts.read.poll());
        assertNull(duo.connects.read.poll());
        assertNull(duo.accepts.wrong.poll(), "one line");
        assertNull(duo.connects.wrong.poll(), "one line");
    }
}
