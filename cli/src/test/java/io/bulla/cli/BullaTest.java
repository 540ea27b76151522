// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BullaTest {

    @TempDir
    private Path folder;

    private Path file;
    private Ran ran;
    private String out;
    private String err;

    @BeforeEach
    void writeFile() throws IOException {
        byte[] content = new byte[300_000];
        new Random(1).nextBytes(content);
        file = Files.write(folder.resolve("payload"), content);
    }

    @Test
    void everyNodeVerifiesAndNothingIsCopied() {
        assertEquals(0, run("xcast", file.toString()), () -> err);
        assertEquals(16, figure("sends"));
        assertEquals(16, figure("verified"));
        assertEquals(0, figure("payload-copies"));
        assertEquals(0, figure("handles-open"));
        assertTrue(figure("payload-bytes-allocated") <= 1.2 * 16 * figure("bytes"), out);
        assertTrue(figure("payload-bytes-allocated") >= 16 * figure("bytes"), out);
        assertEquals("", err);
    }

    @Test
    void copyingTakesACopyPerChildAndIsSeen() {
        assertEquals(0, run("xcast", "--nodes=7", "--radix=2", "--send=copy", file.toString()), () -> err);
        assertEquals(7, figure("payload-copies"));
        assertTrue(figure("payload-bytes-allocated") >= 2 * 7 * figure("bytes"), out);
        assertEquals(0, figure("handles-open"));
    }

    @Test
    void poolsMemoryIsReadByEveryNodeAndComesBack() {
        assertEquals(
                0, run("xcast", "--nodes=7", "--radix=2", "--memory=pool", "--repeat=3", file.toString()), () -> err);
        assertEquals(7, figure("verified"));
        assertEquals(0, figure("payload-copies"));
        assertEquals(0, figure("handles-open"));
    }

    @Test
    void nodeThatDiesMidwayIsAnErrorOfOneLine() {
        assertEquals(1, run("xcast", "--nodes=6", "--radix=2", "--fail-node=2", file.toString()));
        assertTrue(err.startsWith("bulla: peer 2 failed: "), err);
        assertEquals(1, err.lines().count());
    }

    @Test
    void failureShowsItsStackOnlyWhenAsked() {
        assertEquals(1, run("xcast", "--debug", folder.resolve("nowhere").toString()));
        assertTrue(err.contains("\tat io.bulla.cli."), err);
        assertEquals(1, run("xcast", folder.resolve("nowhere").toString()));
        assertEquals("bulla: cannot read " + folder.resolve("nowhere") + ": no such file", err.strip());
    }

    @Test
    void variableThatIsNotSetIsNamed() {
        assertEquals(1, run("xcast", "--env=BULLA_IS_NOT_SET", file.toString()));
        assertEquals("bulla: environment variable is not set: --env=BULLA_IS_NOT_SET", err.strip());
    }

    @Test
    void typoGetsASuggestion() {
        Ran.refused("Unmatched argument at index 0: 'xcats'; did you mean xcast?", "xcats");
        Ran.refused("Unknown option: '--nods'; did you mean --nodes?", "xcast", "--nods", "3", file.toString());
    }

    @Test
    void usageErrorsHaveStatusTwo() {
        Ran.refused("--nodes must be at least 1: given=0", "xcast", "--nodes=0", file.toString());
        Ran.refused("--radix must be at least 1: given=0", "xcast", "--radix=0", file.toString());
        Ran.refused("Unknown option: '--nods=3'; did you mean --nodes?", "xcast", "--nods=3", file.toString());
        Ran.refused("Missing required parameter: 'FILE'", "xcast");
        Ran.refused("no command given: xcast, node, share, explain, fabric, checkpoint, held, cert");
    }

    @Test
    void messageOverTheLimitIsRefused() {
        assertEquals(1, run("xcast", "--limit=1000", file.toString()));
        assertEquals("bulla: message over the limit: length=300000 limit=1000", err.strip());
    }

    @Test
    void fileOfTwoGibibytesIsRefusedWithTheReason() throws IOException {
        Path huge = folder.resolve("huge");
        try (RandomAccessFile sparse = new RandomAccessFile(huge.toFile(), "rw")) {
            sparse.setLength(1L << 31);
        }
        assertEquals(1, run("xcast", huge.toString()));
        assertEquals(
                "bulla: file of 2 GiB or more: a DSS byte object has a 32-bit size: file=" + huge + " bytes=2147483648",
                err.strip());
    }

    @Test
    void portInUseIsNamed() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();
            assertEquals(1, run("xcast", "--nodes=1", "--port=" + port, file.toString()));
            assertTrue(err.startsWith("bulla: cannot listen on 127.0.0.1:" + port + ": "), err);
        }
    }

    @Test
    void portsAreCountedForNodesThatAreStartedHere() {
        Path nowhere = folder.resolve("nowhere");
        run("xcast", "--peers=dns:bulla-{rank}.bulla:7000", "--nodes=70000", "--plaintext", nowhere.toString());
        assertEquals("bulla: cannot read " + nowhere + ": no such file", err.strip());
        String[] many = {"--nodes=70000", "--nodes=2147483647", "--processes=2147483647"};
        for (String nodes : many) {
            Ran.refused(
                    "--port does not leave a port for every node: port=1 nodes=" + nodes.replaceAll("\\D", ""),
                    "xcast",
                    "--port=1",
                    nodes,
                    file.toString());
        }
    }

    @Test
    void portsAreFreeAfterwards() throws IOException {
        for (int i = 0; i < 2; i++) {
            assertEquals(0, run("xcast", "--nodes=2", "--port=21170", file.toString()), () -> err);
        }
        new ServerSocket(21171, 1, InetAddress.getLoopbackAddress()).close();
    }

    @Test
    void errorOfTheJvmHasOneLine() {
        PrintWriter full = new PrintWriter(Writer.nullWriter()) {
            @Override
            public void println(String line) {
                throw new InternalError("of a test");
            }
        };
        for (boolean debug : new boolean[] {false, true}) {
            StringWriter said = new StringWriter();
            String[] words = {"xcast", "--nodes=1", "--debug=" + debug, file.toString()};
            assertEquals(1, Bulla.run(words, full, new PrintWriter(said)));
            assertEquals(
                    "bulla: java.lang.InternalError: of a test",
                    said.toString().lines().findFirst().orElse(""));
            assertEquals(debug, said.toString().lines().count() > 1, said::toString);
        }
    }

    @Test
    void helpIsThereForEveryCommand() {
        assertEquals(0, run("--help"));
        assertTrue(out.contains("xcast"));
        assertEquals(0, run("xcast", "--help"));
        assertTrue(out.contains("--send"));
        assertFalse(out.contains("null"));
    }

    private int run(String... args) {
        ran = Ran.bulla(args);
        out = ran.out();
        err = ran.err();
        return ran.status();
    }

    private long figure(String name) {
        return ran.figure(name);
    }
}
