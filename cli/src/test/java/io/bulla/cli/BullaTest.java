// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.runtime.oob.SendPolicy;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

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
    void oneInjectedCopyIsSeen() throws Exception {
        Report report = broadcast(meters -> {
            AtomicInteger sends = new AtomicInteger();
            return message -> sends.getAndIncrement() == 2 ? message.copy(meters.source()) : message.share();
        });
        assertEquals(1, report.copies());
        assertTrue(report.allocated() >= 6 * report.bytes());
    }

    @Test
    void memoryTakenFromNettyIsSeen() throws Exception {
        Report report = broadcast(meters -> message -> {
            meters.allocator().directBuffer((int) message.byteSize()).release();
            return message.share();
        });
        assertTrue(report.allocated() >= 10 * report.bytes());
    }

    @Test
    void memoryTakenAroundTheChannelsAllocatorIsSeen() throws Exception {
        for (ByteBufAllocator global : List.of(ByteBufAllocator.DEFAULT, UnpooledByteBufAllocator.DEFAULT)) {
            List<ByteBuf> taken = new CopyOnWriteArrayList<>();
            Report report = broadcast(meters -> message -> {
                taken.add(global.directBuffer(4 << 20));
                return message.share();
            });
            taken.forEach(ByteBuf::release);
            assertTrue(report.allocated() >= 5 * report.bytes() + (5 << 20), () -> global + " " + report);
        }
    }

    @Test
    void handleThatIsNotClosedIsSeen() throws Exception {
        AtomicInteger leaks = new AtomicInteger();
        Report report = broadcast(meters -> message -> {
            if (leaks.getAndIncrement() == 0) {
                SealedBuffer forgotten = message.share();
                assertTrue(forgotten.isOpen());
            }
            return message.share();
        });
        assertEquals(1, report.handlesOpen());
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
    void environmentStaysHere() throws Exception {
        byte[] sent = sent();
        for (var variable : System.getenv().entrySet()) {
            assertFalse(holds(sent, variable.getKey() + "=" + variable.getValue()), variable::toString);
        }
    }

    @Test
    void namedVariableIsSentAndNoOther() throws Exception {
        byte[] sent = sent("--env=PATH");
        for (var variable : System.getenv().entrySet()) {
            assertEquals(
                    variable.getKey().equals("PATH"),
                    holds(sent, variable.getKey() + "=" + variable.getValue()),
                    variable::toString);
        }
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
        Ran.refused("no command given: xcast, node, share, explain, cert");
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
    void portsAreFreeAfterwards() throws IOException {
        for (int i = 0; i < 2; i++) {
            assertEquals(0, run("xcast", "--nodes=2", "--port=21170", file.toString()), () -> err);
        }
        new ServerSocket(21171, 1, InetAddress.getLoopbackAddress()).close();
    }

    @Test
    void helpIsThereForEveryCommand() {
        assertEquals(0, run("--help"));
        assertTrue(out.contains("xcast"));
        assertEquals(0, run("xcast", "--help"));
        assertTrue(out.contains("--send"));
        assertFalse(out.contains("null"));
    }

    /// The bytes of a message as its first send has them.
    private byte[] sent(String... options) throws Exception {
        AtomicReference<byte[]> sent = new AtomicReference<>();
        broadcast(
                meters -> message -> {
                    sent.compareAndSet(null, bytes(message.iovec()));
                    return message.share();
                },
                options);
        return sent.get();
    }

    private static byte[] bytes(IoVec vector) {
        ByteBuffer all = ByteBuffer.allocate(Math.toIntExact(vector.byteSize()));
        for (ByteBuffer view : vector.asByteBuffers()) {
            all.put(view);
        }
        return all.array();
    }

    private static boolean holds(byte[] bytes, String text) {
        return new String(bytes, StandardCharsets.ISO_8859_1)
                .contains(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
    }

    private Report broadcast(Function<Meters, SendPolicy> policy, String... more) throws Exception {
        XcastCommand options = new XcastCommand();
        List<String> given = new ArrayList<>(List.of(more));
        given.addAll(List.of("--nodes=5", "--radix=2", file.toString()));
        new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(given.toArray(String[]::new));
        try (Xcast xcast = new Xcast(options, policy)) {
            xcast.start();
            return xcast.broadcast(new Progress.None());
        }
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
