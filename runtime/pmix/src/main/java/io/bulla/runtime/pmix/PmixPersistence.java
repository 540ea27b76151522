// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

/// Lifetime of published values.
///
/// Source of the numbers: PMIx 4.2, `pmix_common.h`, `pmix_persistence_t`.
public enum PmixPersistence {
    /// Until it is unpublished.
    INDEFINITE(0),
    /// Until it is looked up.
    FIRST_READ(1),
    /// Until the process that published it ends.
    PROCESS(2),
    /// Until the program ends; the server's default.
    APPLICATION(3),
    /// Until the session ends.
    SESSION(4);

    private final byte code;

    PmixPersistence(int code) {
        this.code = (byte) code;
    }

    byte code() {
        return code;
    }
}
