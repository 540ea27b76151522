// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

/// Visibility of put values: which processes can get them.
///
/// Source of the numbers: PMIx 4.2, `pmix_common.h`, `pmix_scope_t`.
public enum PmixScope {
    /// Processes on the same host.
    LOCAL(1),
    /// Processes on other hosts.
    REMOTE(2),
    /// All processes of the job.
    GLOBAL(3);

    private final byte code;

    PmixScope(int code) {
        this.code = (byte) code;
    }

    byte code() {
        return code;
    }

    boolean covers(PmixScope other) {
        return (code & other.code) != 0;
    }
}
