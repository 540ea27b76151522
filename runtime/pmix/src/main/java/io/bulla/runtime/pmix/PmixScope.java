// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

/// Who can get what a process put.
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
