// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A JVM of its own that runs a main class of these tests, and what it said.
record Fork(int status, String output) {

    /// The module on the module path, with these tests patched in.
    static List<String> module(Class<?> main) {
        return List.of(
                "--module-path",
                modulePath(),
                "--patch-module",
                "io.bulla.interop.posix=" + testClasses(),
                "--module",
                "io.bulla.interop.posix/" + main.getName());
    }

    /// All on the class path.
    static List<String> classPath(Class<?> main) {
        return List.of("-cp", modulePath() + File.pathSeparator + testClasses(), main.getName());
    }

    /// @param limits a shell's command that comes first, such as `ulimit -n 64`
    static Fork run(String limits, List<String> options, List<String> program)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", limits + "; exec \"$@\"", "sh"));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1"));
        command.addAll(options);
        command.addAll(program);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException("the other JVM does not end: " + output);
        }
        return new Fork(process.exitValue(), output);
    }

    private static String modulePath() {
        return System.getProperty("jdk.module.path");
    }

    private static String testClasses() {
        return Path.of("target", "test-classes").toAbsolutePath().toString();
    }
}
