// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

/// A limit on memory forbids what was asked. Nothing was taken; trying again later may succeed.
public final class MemoryLimitException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    /// For sources.
    ///
    /// @param message what was asked, what the limit is, and who holds what
    public MemoryLimitException(String message) {
        super(message);
    }
}
