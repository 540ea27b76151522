// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import java.io.IOException;

/// Another command: makes a folder, removes those of dead processes with that, and ends.
public final class TrialFolderProgram {

    private TrialFolderProgram() {}

    /// @param args begin of its name
    public static void main(String[] args) throws IOException {
        TrialFolder.create(args[0]).close();
    }
}
