// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.cli.report.Progress;
import io.bulla.cli.report.Report;
import io.bulla.iovec.IoVec;
import io.bulla.runtime.oob.SendPolicy;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
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

/// What a broadcast counts, and what it sends.
class XcastTest {

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void writeFile() throws IOException {
        byte[] content = new byte[300_000];
        new Random(1).nextBytes(content);
        file = Files.write(folder.resolve("payload"), content);
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
}
