// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.held;

import io.bulla.cli.shell.Terminal;
import io.bulla.cli.shell.Usage;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `bulla held`: who holds memory in another JVM.
@Command(
        name = "held",
        mixinStandardHelpOptions = true,
        description = {
            "Shows who holds memory in a JVM of this machine: budgets, sources, pools, peers of nodes,",
            "open handles by tag, and the oldest with their stacks if a LeaseLedger keeps them.",
            "It starts the JDK's local management agent there, as jconsole does."
        })
public final class HeldCommand implements Callable<Integer> {

    private static final String HOME_AND_CLEAR = "\u001b[H\u001b[2J";

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--watch",
            arity = "0..1",
            fallbackValue = "1s",
            paramLabel = "TIME",
            converter = Usage.Time.class,
            description = "Look again and again, each second or as given: 5s, 500ms.")
    private @Nullable Duration watch;

    @Parameters(paramLabel = "PID", description = "The JVM's process.")
    private long pid;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.atLeast(spec, "PID", 1, pid);
        try (OtherJvm jvm = OtherJvm.of(pid)) {
            print(jvm, null);
            Terminal terminal = watch == null ? null : Terminal.ofProcess();
            while (watch != null) {
                Thread.sleep(watch);
                print(jvm, terminal);
            }
        }
        return 0;
    }

    /// One write, so that a repaint does not flicker.
    private void print(OtherJvm jvm, @Nullable Terminal terminal) throws IOException {
        List<String> lines = jvm.ask(bean -> HeldLines.of(pid, bean));
        PrintWriter out = spec.commandLine().getOut();
        out.print((terminal == null ? "" : HOME_AND_CLEAR)
                + String.join(System.lineSeparator(), lines)
                + System.lineSeparator());
        out.flush();
    }
}
