// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

/// Visibility of published values: which processes can look them up.
public enum PmixRange {
    /// Processes on the same host.
    LOCAL,
    /// Processes of the same job.
    NAMESPACE,
    /// Processes of the same session; the server's default.
    SESSION,
    /// Processes of all jobs that the server knows.
    GLOBAL
}
