// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

/// A fence ended without all of its members: some have died or left. The set is no longer whole, so the same fence
/// is not to be tried again: it would wait for them, or meet the next fence of the others.
public final class PmixPartialException extends PmixException {

    private static final long serialVersionUID = 1;

    PmixPartialException(String message) {
        super(PmixStatus.PARTIAL_SUCCESS, message);
    }
}
