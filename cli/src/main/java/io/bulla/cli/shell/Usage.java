// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/// Complaints about options, which end with status 2.
public final class Usage {

    private Usage() {}

    public static ParameterException error(CommandSpec command, String message) {
        return new ParameterException(command.commandLine(), message);
    }

    /// `1s`, `500ms`, `2m`.
    public static final class Time implements ITypeConverter<Duration> {

        private static final Pattern TIME = Pattern.compile("([1-9][0-9]{0,5})(ms|s|m)");

        @Override
        public Duration convert(String text) {
            Matcher words = TIME.matcher(text);
            if (!words.matches()) {
                throw new TypeConversionException("not a time such as 1s or 500ms: given=" + text);
            }
            long count = Long.parseLong(words.group(1));
            return switch (words.group(2)) {
                case "ms" -> Duration.ofMillis(count);
                case "s" -> Duration.ofSeconds(count);
                default -> Duration.ofMinutes(count);
            };
        }
    }

    public static void atLeast(CommandSpec command, String option, long least, long given) {
        if (given < least) {
            throw error(command, option + " must be at least " + least + ": given=" + given);
        }
    }

    public static void atMost(CommandSpec command, String option, long most, long given) {
        if (given > most) {
            throw error(command, option + " must be at most " + most + ": given=" + given);
        }
    }
}
