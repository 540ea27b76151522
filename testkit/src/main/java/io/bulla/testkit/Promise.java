// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

/// The nine promises of Bulla, by their names in its README.
public enum Promise {
    /// Content, size and addresses are fixed from `seal()` on.
    IMMUTABLE,
    /// Another thread that sees a handle sees every byte.
    PUBLISHED,
    /// `close()` ends one handle, once.
    A_HANDLE_PER_HOLDER,
    /// Sharing, closing and reading wait for no other thread.
    LOCK_FREE,
    /// Every handle, region and booked byte comes back, and is listed until then.
    ACCOUNTABLE,
    /// A closed handle throws; a view of freed memory throws or shows the sealed bytes.
    USE_AFTER_CLOSE,
    /// Sharing, slicing, concatenating and sending move no byte.
    NO_COPY,
    /// What failed left builder and reader as they were, or over by name.
    TRANSACTIONAL,
    /// Limits are checked before memory is taken.
    CHECKED_BEFORE_TAKEN
}
