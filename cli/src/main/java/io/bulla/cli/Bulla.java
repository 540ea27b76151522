// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import io.bulla.cli.checkpoint.CheckpointCommand;
import io.bulla.cli.held.HeldCommand;
import io.bulla.cli.share.ShareCommand;
import io.bulla.cli.shell.Children;
import io.bulla.cli.xcast.NodeCommand;
import io.bulla.cli.xcast.XcastCommand;
import java.io.PrintWriter;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/// The command: exit status 0 for success, 1 for a failure, 2 for a usage error.
@Command(
        name = "bulla",
        description = "Immutable, thread-safe serialization buffers: pack once, seal, share.",
        mixinStandardHelpOptions = true,
        version = "bulla 0.1.0-SNAPSHOT",
        subcommands = {
            XcastCommand.class,
            NodeCommand.class,
            ShareCommand.class,
            ExplainCommand.class,
            FabricCommand.class,
            CheckpointCommand.class,
            HeldCommand.class,
            CertCommand.class
        })
public final class Bulla implements Runnable {

    /// Held, so that its level stays. What fails comes up as an error; Netty's guesses about the machine are noise.
    private static final Logger NETTY = Logger.getLogger("io.netty");

    @Spec
    private CommandSpec spec;

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Show the stack trace of a failure.")
    private boolean debug;

    /// Runs the command and exits.
    ///
    /// @param args see `--help`
    public static void main(String[] args) {
        NETTY.setLevel(Level.OFF);
        System.exit(run(args, new PrintWriter(System.out, true), new PrintWriter(System.err, true)));
    }

    static int run(String[] args, PrintWriter out, PrintWriter err) {
        Bulla bulla = new Bulla();
        try {
            return bulla.execute(args, out, err);
        } catch (Error failure) {
            bulla.say(failure, failure.toString(), err);
            return 1;
        } finally {
            // what has no line's end is in a buffer still
            out.flush();
            err.flush();
        }
    }

    private int execute(String[] args, PrintWriter out, PrintWriter err) {
        return new CommandLine(this)
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler((wrong, given) -> {
                    err.println("bulla: " + firstLine(message(wrong)) + suggestion(wrong));
                    err.println("bulla: see "
                            + wrong.getCommandLine().getCommandSpec().qualifiedName() + " --help");
                    return 2;
                })
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    say(failure, message(failure), err);
                    return 1;
                })
                .execute(args);
    }

    private void say(Throwable failure, String words, PrintWriter err) {
        if (!Children.wasInterrupted()) {
            err.println("bulla: " + firstLine(words));
        }
        if (debug) {
            failure.printStackTrace(err);
        }
    }

    private static String suggestion(Exception wrong) {
        List<String> similar =
                wrong instanceof CommandLine.UnmatchedArgumentException unknown ? unknown.getSuggestions() : List.of();
        return similar.isEmpty() ? "" : "; did you mean " + String.join(" or ", similar) + "?";
    }

    private static String message(Throwable failure) {
        return failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    }

    private static String firstLine(String words) {
        return words.lines().findFirst().orElse("");
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(
                spec.commandLine(),
                "no command given: " + String.join(", ", spec.subcommands().keySet()));
    }
}
