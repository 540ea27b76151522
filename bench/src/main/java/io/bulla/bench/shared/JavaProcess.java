// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A program of this jar's in a process of its own, which ends when its input does.
final class JavaProcess {

    /// Little memory, a quick start: for many of them.
    static final List<String> SMALL = List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-Xshare:auto",
            "-Xms4m",
            "-Xmx24m",
            "-Xss512k");

    private JavaProcess() {}

    static Process start(List<String> flags, Class<?> main, String... args) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(Arrays.asList(args));
        return new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /// Ends this process when the one that started it is gone.
    static void endWithInput() {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (System.in.read() >= 0) {}
            } catch (IOException gone) {
                // as an end
            }
            Runtime.getRuntime().halt(0);
        });
    }
}
