// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openjdk.jmh.runner.RunnerException;

/// One JVM that several numbers are read from.
///
/// It is run when the first of them is asked for, and again when one of them is asked for a second time, which
/// is in the next round.
public final class SharedRun {

    private static final Pattern LINE = Pattern.compile("(.*) \\w+=([0-9.]+)");

    interface Run {
        /// @param wanted which numbers
        Map<String, Double> numbers(Case.Length length, Set<String> wanted)
                throws IOException, InterruptedException, RunnerException, Case.Skipped;
    }

    private final Run run;
    private final Set<String> wanted = new LinkedHashSet<>();
    private final Set<String> given = new HashSet<>();
    private Map<String, Double> numbers = Map.of();

    SharedRun(Run run) {
        this.run = run;
    }

    /// A program of ours that prints a line for each number: words that say which, and behind them the number as
    /// `unit=...`.
    ///
    /// @param main of the program
    /// @param args its arguments, for a length; those numbers that are wanted come behind them
    public static SharedRun program(Class<?> main, Function<Case.Length, List<String>> args) {
        return new SharedRun((length, wanted) -> {
            List<String> all = new ArrayList<>(args.apply(length));
            all.addAll(wanted);
            return numbers(Case.lines(main, all.toArray(String[]::new)));
        });
    }

    /// The numbers in what such a program prints.
    static Map<String, Double> numbers(List<String> lines) {
        Map<String, Double> numbers = new HashMap<>();
        for (String line : lines) {
            Matcher number = LINE.matcher(line);
            if (number.matches()) {
                numbers.put(number.group(1), Double.parseDouble(number.group(2)));
            }
        }
        return numbers;
    }

    /// One of the numbers.
    public Case.Meter reading(String which) {
        return new Case.Meter() {
            @Override
            public void chosen() {
                wanted.add(which);
            }

            @Override
            public double measure(Case.Length length)
                    throws IOException, InterruptedException, RunnerException, Case.Skipped {
                if (numbers.isEmpty() || !given.add(which)) {
                    numbers = run.numbers(length, wanted);
                    given.clear();
                    given.add(which);
                }
                Double number = numbers.get(which);
                if (number == null) {
                    throw new IOException(
                            "no such number was printed: which=" + which + " printed=" + numbers.keySet());
                }
                return number;
            }
        };
    }
}
