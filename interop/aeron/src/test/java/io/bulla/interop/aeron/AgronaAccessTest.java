// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.aeron.Aeron;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.RefCount;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A program that was not started for Agrona is told which flag it lacks, and the flag helps.
class AgronaAccessTest {

    /// Run in a JVM of its own.
    static final class Program {
        public static void main(String[] args) {
            try {
                AgronaAccess.check();
                System.out.println("granted");
            } catch (UnsupportedOperationException missing) {
                System.out.println(missing.getMessage());
            }
        }
    }

    @TempDir
    private Path folder;

    @Test
    void missingFlagIsNamedAndTakesEffect() throws Exception {
        String flag = "--add-exports java.base/jdk.internal.misc=ALL-UNNAMED";
        assertEquals("Agrona may not use the JDK's memory access: start the JVM with " + flag, run());
        assertEquals("granted", run(flag.split(" ")));
    }

    private String run(String... flags) throws IOException, InterruptedException {
        String classPath = Stream.of(
                        RefCount.class,
                        IoVec.class,
                        SealedBuffer.class,
                        AgronaAccess.class,
                        Program.class,
                        Aeron.class,
                        DirectBuffer.class)
                .map(AgronaAccessTest::rootOf)
                .collect(Collectors.joining(":"));
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", classPath, Program.class.getName()));
        Path out = folder.resolve("out");
        Process java = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        assertTrue(java.waitFor(60, TimeUnit.SECONDS));
        return Files.readString(out).strip();
    }

    private static String rootOf(Class<?> type) {
        try {
            String resource = "/" + type.getName().replace('.', '/') + ".class";
            String uri = type.getResource(resource).toURI().toString().replaceFirst("^jar:", "");
            String root = uri.substring(0, uri.length() - resource.length()).replaceFirst("!$", "");
            return Path.of(URI.create(root)).toString();
        } catch (URISyntaxException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
