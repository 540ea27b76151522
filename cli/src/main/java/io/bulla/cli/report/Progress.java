// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.report;

import io.bulla.cli.shell.Terminal;
import java.io.PrintWriter;
import java.util.function.IntSupplier;

/// A bar that fills as nodes verify; nothing where there is no terminal.
public interface Progress {

    void verified(int nodes);

    void done();

    static Progress onTerminal(int nodes) {
        Terminal terminal = Terminal.ofProcess();
        return terminal == null ? new None() : new Bar(nodes, terminal.writer(), terminal::columns);
    }

    record None() implements Progress {
        @Override
        public void verified(int nodes) {}

        @Override
        public void done() {}
    }

    /// A line that is painted again and again. It has a character less than the terminal has columns, since a full
    /// line moves the cursor to the next one, and no colours.
    ///
    /// @param columns of the terminal, which may change meanwhile
    record Bar(int nodes, PrintWriter terminal, IntSupplier columns) implements Progress {

        private static final int LONGEST = 40;
        private static final int SHORTEST = 5;

        @Override
        public void verified(int done) {
            int room = columns.getAsInt() - 1;
            terminal.print("\r" + line(done, room));
            terminal.flush();
        }

        private String line(int done, int room) {
            String count = done + "/" + nodes;
            String text = count + " nodes verified";
            int bar = Math.min(LONGEST, room - text.length() - "[] ".length());
            if (bar >= SHORTEST) {
                int filled = (int) ((long) bar * done / nodes);
                return "[" + "=".repeat(filled) + " ".repeat(bar - filled) + "] " + text;
            }
            if (room >= text.length()) {
                return text;
            }
            return room >= count.length() ? count : "";
        }

        @Override
        public void done() {
            terminal.print("\r" + " ".repeat(Math.max(0, columns.getAsInt() - 1)) + "\r");
            terminal.flush();
        }
    }
}
