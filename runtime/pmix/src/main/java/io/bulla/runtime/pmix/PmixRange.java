// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

/// Visibility of published values: which processes can look them up.
///
/// Source of the numbers: PMIx 4.2, `pmix_common.h`, `pmix_data_range_t`.
public enum PmixRange {
    /// Processes on the same host.
    LOCAL(2),
    /// Processes of the same job.
    NAMESPACE(3),
    /// Processes of the same session; the server's default.
    SESSION(4),
    /// Processes of all jobs that the server knows.
    GLOBAL(5);

    private final byte code;

    PmixRange(int code) {
        this.code = (byte) code;
    }

    byte code() {
        return code;
    }
}
