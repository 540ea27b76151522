// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import java.io.Console;
import java.io.PrintWriter;

/// A bar that fills as nodes verify; nothing where there is no terminal.
interface Progress {

    void verified(int nodes);

    void done();

    static Progress onTerminal(int nodes) {
        Console console = System.console();
        return console != null && console.isTerminal() ? new Bar(nodes, console.writer()) : new None();
    }

    record None() implements Progress {
        @Override
        public void verified(int nodes) {}

        @Override
        public void done() {}
    }

    record Bar(int nodes, PrintWriter terminal) implements Progress {

        private static final int WIDTH = 40;

        @Override
        public void verified(int done) {
            int filled = (int) ((long) WIDTH * done / nodes);
            terminal.printf(
                    "\r[%s%s] %d/%d nodes verified", "=".repeat(filled), " ".repeat(WIDTH - filled), done, nodes);
            terminal.flush();
        }

        @Override
        public void done() {
            terminal.print("\r" + " ".repeat(WIDTH + 40) + "\r");
            terminal.flush();
        }
    }
}
