// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

/// Visibility of put values: which processes can get them.
public enum PmixScope {
    /// Processes on the same host.
    LOCAL,
    /// Processes on other hosts.
    REMOTE,
    /// All processes of the job.
    GLOBAL
}
