// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import java.nio.file.Path;

/// What `bulla share` is to do.
///
/// @param failProcess number of the process that dies when the file reaches it; 0 for none
record ShareOptions(Path file, Send send, int processes, int rounds, int timeoutSeconds, int failProcess) {

    /// What travels to a process.
    enum Send {
        SEAL,
        SLAB,
        COPY
    }
}
