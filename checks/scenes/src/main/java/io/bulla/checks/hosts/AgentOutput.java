// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

/// What an agent tells the process that started it: a line of its output for each thing that happens.
public final class AgentOutput {

    private AgentOutput() {}

    /// Prints the monotonic time and the words as one line, whatever other threads say. Callable from any thread.
    public static void say(Object... words) {
        StringBuilder line = new StringBuilder().append(System.nanoTime());
        for (Object word : words) {
            line.append(' ').append(word);
        }
        synchronized (System.out) {
            System.out.println(line);
            System.out.flush();
        }
    }
}
