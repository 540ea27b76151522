// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

/// What a lease carries only when asked: a tag, and what its listener wants to find again.
///
/// @param tag who holds, or null
/// @param traced what [LeaseTrace#opened] returned, or null
record SideRecord(Object tag, Object traced) {

    /// Nothing was asked.
    static final SideRecord NONE = new SideRecord(null, null);

    static SideRecord of(Object tag, Object traced) {
        return tag == null && traced == null ? NONE : new SideRecord(tag, traced);
    }
}
