// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/// Complaints about options, which end with status 2.
final class Usage {

    private Usage() {}

    static ParameterException error(CommandSpec command, String message) {
        return new ParameterException(command.commandLine(), message);
    }

    static void atLeast(CommandSpec command, String option, long least, long given) {
        if (given < least) {
            throw error(command, option + " must be at least " + least + ": given=" + given);
        }
    }
}
