// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

/// Lifetime of published values.
public enum PmixPersistence {
    /// Until it is unpublished.
    INDEFINITE,
    /// Until it is looked up.
    FIRST_READ,
    /// Until the process that published it ends.
    PROCESS,
    /// Until the program ends; the server's default.
    APPLICATION,
    /// Until the session ends.
    SESSION
}
