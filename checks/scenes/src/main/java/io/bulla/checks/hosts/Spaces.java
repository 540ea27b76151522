// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Network namespaces of this run, with the process id in their names. All are gone when this is closed.
final class Spaces implements AutoCloseable {

    private final String name = "bulla-" + ProcessHandle.current().pid();
    private final List<String> made = new ArrayList<>();

    /// @param end of its name, which `ci/hosts` knows as letters and digits
    /// @return the whole name
    /// @throws IOException if this machine has no such namespaces, or this user may not make them
    String make(String end) throws IOException {
        String space = name + "-" + end;
        run("ip", "netns", "add", space);
        made.add(space);
        return space;
    }

    /// How a program is started in one.
    static List<String> within(String space) {
        return List.of("ip", "netns", "exec", space);
    }

    /// `ip`, in one.
    static void ip(String space, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("ip", "-n", space));
        command.addAll(List.of(arguments));
        run(command.toArray(String[]::new));
    }

    static void run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes()).strip();
        boolean interrupted = false;
        while (true) {
            try {
                if (process.waitFor() != 0) {
                    throw new IOException(
                            "command failed: command=" + Arrays.toString(command) + " said=[" + said + "]");
                }
                return;
            } catch (InterruptedException later) {
                interrupted = true;
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /// Processes in it have to be ended before.
    @Override
    public void close() {
        for (String space : made.reversed()) {
            try {
                run("ip", "netns", "del", space);
            } catch (IOException stays) {
                System.err.println("hosts: a namespace stays: " + stays.getMessage());
            }
        }
        made.clear();
    }
}
