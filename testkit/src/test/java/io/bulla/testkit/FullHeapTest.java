// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pool.SlabSource;
import io.bulla.refcount.RefCount;
import io.bulla.testkit.internal.Ballast;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A heap of 16 MiB, filled to the brim, in a JVM of its own.
class FullHeapTest {

    /// `./check faults` has more.
    private static final int ROUNDS = Integer.getInteger("bulla.rounds", 40);

    @Test
    void sealThatRunsOutOfHeapChangesNoByteAndLosesNone() throws Exception {
        String said = run(FullHeap.class);
        assertEquals("failed=true wrong=0 used=0", said.lines().toList().getLast(), said);
    }

    @Test
    void regionThatHasNoHeapTakesNoByteAndNoHolder() throws Exception {
        String said = run(HeapSweep.class, "-Xmx8m", "-Xint", "-XX:-UseTLAB");
        for (String way : List.of("ALONE", "CARVED", "CHUNK", "BLOCK")) {
            assertTrue(said.contains(way + " failed=true passed=true lost=0\n"), said);
        }
    }

    @Test
    void memoryThatIsHandedOverIsGivenBackOnce() throws Exception {
        String said = run(HandoverSweep.class, "-Xmx8m", "-Xint", "-XX:-UseTLAB");
        assertTrue(said.contains("FILLED failed=true passed=true lost=0\n"), said);
        // these never fail
        assertTrue(said.contains("ADOPTED failed=false passed=true lost=0\n"), said);
        assertTrue(said.contains("KNOWN failed=false passed=true lost=0\n"), said);
    }

    @Test
    void firstCloseOfAProcessClosesAll() throws Exception {
        assertEquals("closed=4", run(FirstClose.class).strip());
    }

    /// Half a minute, and every module waits for this one: `./check faults` has it.
    @Tag("faults")
    @Test
    void slotsOfAPoolAreLostAtNoAllocation() throws Exception {
        String said = run(SlotSweep.class, "-Xmx8m", "-Xint", "-XX:-UseTLAB");
        for (String way : List.of("FIRST refused=true", "CARVED refused=true", "DEPOT refused=true")) {
            assertTrue(said.contains(way + " lost=0\n"), said);
        }
        // who gives back hears nothing of it
        for (String way : List.of("SPILLED refused=false", "FOREIGN refused=false")) {
            assertTrue(said.contains(way + " lost=0\n"), said);
        }
    }

    /// In a JVM of its own.
    private static String run(Class<?> program, String... options) throws IOException, InterruptedException {
        String classPath = Stream.of(RefCount.class, IoVec.class, SealedBuffer.class, SlabSource.class, program)
                .map(FullHeapTest::rootOf)
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx16m",
                "-XX:+UseSerialGC",
                "-cp",
                classPath + File.pathSeparator + rootOf(Ballast.class)));
        command.addAll(List.of(options));
        command.add(program.getName());
        command.add(Integer.toString(ROUNDS));
        Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(child.getInputStream().readAllBytes());
        assertEquals(0, child.waitFor(), said);
        return said;
    }

    private static String rootOf(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
