// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A program to start.
///
/// @param command or null
/// @param arguments none of them null, the first is the name of the program
/// @param environment `NAME=value`
/// @param directory where it starts, or null
/// @param maxProcesses how many
/// @param info directives
public record App(
        @Nullable String command,
        List<String> arguments,
        List<String> environment,
        @Nullable String directory,
        int maxProcesses,
        List<Info> info)
        implements Composite {

    /// Copies the lists.
    public App {
        arguments = List.copyOf(arguments);
        environment = List.copyOf(environment);
        info = List.copyOf(info);
    }
}
