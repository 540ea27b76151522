// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.message;

import io.bulla.runtime.pmix.PmixPersistence;
import io.bulla.runtime.pmix.PmixRange;
import io.bulla.runtime.pmix.PmixScope;

/// Numbers that stand for the constants of the API in a message.
///
/// Source: PMIx 4.2, `pmix_common.h`: `pmix_scope_t`, `pmix_data_range_t`, `pmix_persistence_t`.
final class Codes {

    private Codes() {}

    static byte of(PmixScope scope) {
        return switch (scope) {
            case LOCAL -> 1;
            case REMOTE -> 2;
            case GLOBAL -> 3;
        };
    }

    /// Whether what is put in a scope is seen in another one: its bit is set.
    static boolean covers(PmixScope scope, PmixScope other) {
        return (of(scope) & of(other)) != 0;
    }

    static byte of(PmixRange range) {
        return switch (range) {
            case LOCAL -> 2;
            case NAMESPACE -> 3;
            case SESSION -> 4;
            case GLOBAL -> 5;
        };
    }

    static byte of(PmixPersistence persistence) {
        return switch (persistence) {
            case INDEFINITE -> 0;
            case FIRST_READ -> 1;
            case PROCESS -> 2;
            case APPLICATION -> 3;
            case SESSION -> 4;
        };
    }
}
