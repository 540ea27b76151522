// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.RefCount;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// A heap of 16 MiB, filled to the brim, in a JVM of its own.
class FullHeapTest {

    @Test
    void sealThatRunsOutOfHeapChangesNoByteAndLosesNone() throws Exception {
        String classPath = Stream.of(RefCount.class, IoVec.class, SealedBuffer.class, FullHeap.class)
                .map(FullHeapTest::rootOf)
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx16m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        classPath,
                        FullHeap.class.getName(),
                        "150")
                .redirectErrorStream(true)
                .start();
        String said = new String(child.getInputStream().readAllBytes());
        assertEquals(0, child.waitFor(), said);
        assertEquals("failed=true wrong=0 used=0", said.lines().toList().getLast(), said);
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
