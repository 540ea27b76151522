// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import java.io.PrintWriter;
import java.util.function.Supplier;

/// Says what was interrupted, if the process is told to end, as by Ctrl-C, before this is closed.
public final class Interruption implements AutoCloseable {

    private final Thread hook;

    /// @param progress asked at the interruption; `name=value` words
    public Interruption(PrintWriter err, String what, Supplier<String> progress) {
        hook = new Thread(
                () -> {
                    err.println("bulla: interrupted: " + what + " " + progress.get());
                    err.flush();
                },
                "bulla-interruption");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            // it is being said
        }
    }
}
