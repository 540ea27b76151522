// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The terminal of this process: what a bar is painted on, and how wide it is now.
public final class Terminal {

    private static final int USUAL_COLUMNS = 80;
    private static final long ASKED_EACH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final PrintWriter writer;
    private int columns;
    private long askedAt;

    private Terminal(PrintWriter writer) {
        this.writer = writer;
        ask();
    }

    /// The terminal that is both read and written.
    ///
    /// @return null if there is none, or one that cannot move its cursor (`TERM=dumb`)
    public static @Nullable Terminal ofProcess() {
        Console console = System.console();
        return console == null || !console.isTerminal() || "dumb".equals(System.getenv("TERM"))
                ? null
                : new Terminal(console.writer());
    }

    /// What writes to it.
    public PrintWriter writer() {
        return writer;
    }

    /// How many characters are in a line; asked again each second, since a window can be resized.
    public int columns() {
        if (System.nanoTime() - askedAt > ASKED_EACH_NANOS) {
            ask();
        }
        return columns;
    }

    private void ask() {
        columns = ofTerminal();
        askedAt = System.nanoTime();
    }

    /// The JDK does not say it: `stty size` prints rows and columns.
    private static int ofTerminal() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(new File("/dev/tty"))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String[] size =
                    new String(stty.getInputStream().readAllBytes()).strip().split(" ");
            if (size.length == 2 && Integer.parseInt(size[1]) > 0) {
                return Integer.parseInt(size[1]);
            }
        } catch (IOException | NumberFormatException unknown) {
            // another system, or a terminal that does not know
        }
        return ofEnvironment(System.getenv("COLUMNS"));
    }

    static int ofEnvironment(@Nullable String columns) {
        return columns != null && columns.matches("[1-9][0-9]{0,4}") ? Integer.parseInt(columns) : USUAL_COLUMNS;
    }
}
