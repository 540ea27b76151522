// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.security.TlsCertificates;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertTest {

    @TempDir
    private Path folder;

    private Path out;

    @BeforeEach
    void makeCertificates() {
        out = folder.resolve("certs");
        Ran ran = Ran.bulla("cert", "--nodes=2", "--job=test-7", "--days=3", "--out=" + out);
        assertEquals(0, ran.status(), ran::err);
        assertTrue(ran.out().matches("cert: job=test-7 ranks=0-2 until=\\S+ out=\\S+\n"), ran::out);
        assertEquals("", ran.err());
    }

    @Test
    void keysAreTheOwnersAloneAndTheAuthoritysIsNotThere() throws IOException {
        assertEquals(
                List.of("ca.pem", "rank-0.key", "rank-0.pem", "rank-1.key", "rank-1.pem", "rank-2.key", "rank-2.pem"),
                names(out));
        for (int rank = 0; rank <= 2; rank++) {
            assertEquals(
                    "rw-------",
                    PosixFilePermissions.toString(Files.getPosixFilePermissions(out.resolve("rank-" + rank + ".key"))));
        }
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(out)));
        assertFalse(Files.readString(out.resolve("ca.pem")).contains("PRIVATE"));
    }

    @Test
    void opensslVerifiesThem() throws Exception {
        String verified =
                openssl("verify", "-x509_strict", "-CAfile", at("ca.pem"), "-purpose", "sslserver", at("rank-1.pem"));
        assertEquals(at("rank-1.pem") + ": OK", verified.strip());
        verified =
                openssl("verify", "-x509_strict", "-CAfile", at("ca.pem"), "-purpose", "sslclient", at("rank-2.pem"));
        assertEquals(at("rank-2.pem") + ": OK", verified.strip());
        String text = openssl("x509", "-noout", "-ext", "subjectAltName,basicConstraints", "-in", at("rank-2.pem"));
        assertTrue(text.contains("URI:bulla://test-7/rank/2"), text);
        assertTrue(text.contains("CA:FALSE"), text);
        assertEquals(
                openssl("x509", "-noout", "-pubkey", "-in", at("rank-1.pem")),
                openssl("pkey", "-pubout", "-in", at("rank-1.key")));
    }

    @Test
    void nodesTalkWithThem() throws Exception {
        BlockingQueue<Byte> heard = new LinkedBlockingQueue<>();
        try (ArenaSource source = ArenaSource.create();
                OobNode one = node(1, source, null);
                OobNode zero = node(0, source, one);
                BufferBuilder builder = BufferBuilder.create(source);
                SealedBuffer message = builder.putByte((byte) 42).seal()) {
            one.receive(5, got -> heard.add(got.buffer().iovec().get(ValueLayout.JAVA_BYTE, 0)));
            zero.send(1, 5, message);
            assertEquals((byte) 42, heard.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void folderThatExistsIsLeftAlone() throws IOException {
        byte[] before = Files.readAllBytes(out.resolve("rank-0.key"));
        Ran ran = Ran.bulla("cert", "--out=" + out);
        assertEquals(1, ran.status());
        assertEquals("bulla: folder exists already: out=" + out + "\n", ran.err());
        assertArrayEquals(before, Files.readAllBytes(out.resolve("rank-0.key")));
        assertEquals(List.of("certs"), names(folder), "nothing half-done");
    }

    @Test
    void signalLeavesNoKey() throws Exception {
        Path trial = Files.createDirectory(folder.resolve("trial"));
        // more than it can make before the signal
        Process cert = NodeProcess.start(List.of("cert", "--nodes=1000000", "--out=" + trial.resolve("certs")))
                .process();
        while (!hasKey(trial) && cert.isAlive()) {
            Thread.sleep(5);
        }
        cert.destroy();
        assertTrue(cert.waitFor(60, TimeUnit.SECONDS));
        assertEquals(128 + 15, cert.exitValue());
        assertEquals(List.of(), names(trial));
    }

    private static boolean hasKey(Path trial) throws IOException {
        try (Stream<Path> folders = Files.list(trial)) {
            return folders.anyMatch(each -> Files.exists(each.resolve("rank-0.key")));
        }
    }

    @Test
    void wrongOptionsAreNamed() {
        Path other = folder.resolve("other");
        Ran.refused("--days must be at least 1: given=0", "cert", "--days=0", "--out=" + other);
        Ran.refused("--days must be at most 36500: given=3000000", "cert", "--days=3000000", "--out=" + other);
        Ran.refused("--nodes must be at least 0: given=-1", "cert", "--nodes=-1", "--out=" + other);
        Ran.refused(
                "not a job's name (letters, digits, dots, dashes, at most 63): job=a/b",
                "cert",
                "--job=a/b",
                "--out=" + other);
        Ran.refused("Missing required option: '--out=DIR'", "cert");
        Ran nowhere = Ran.bulla("cert", "--out=" + folder.resolve("no/such"));
        assertEquals(1, nowhere.status());
        assertEquals(
                "bulla: no such folder: parent=" + folder.resolve("no") + " out=" + folder.resolve("no/such") + "\n",
                nowhere.err());
        assertFalse(Files.exists(other));
    }

    private OobNode node(int rank, ArenaSource source, OobNode called) throws IOException {
        return OobNode.builder(rank, 3)
                .memory(source)
                .security(TlsCertificates.ofFiles(
                        out.resolve("ca.pem"),
                        out.resolve("rank-" + rank + ".pem"),
                        out.resolve("rank-" + rank + ".key")))
                .directory(peer -> called == null ? null : called.address())
                .start();
    }

    private String at(String name) {
        return out.resolve(name).toString();
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static String openssl(String... words) throws Exception {
        List<String> command =
                Stream.concat(Stream.of("openssl"), Stream.of(words)).toList();
        Process openssl;
        try {
            openssl = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException notHere) {
            Piece.OPENSSL.orSkip(notHere);
            return "";
        }
        String said = new String(openssl.getInputStream().readAllBytes());
        assertEquals(0, openssl.waitFor(), said);
        return said;
    }
}
