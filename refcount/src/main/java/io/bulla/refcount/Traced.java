// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

/// What one of our own listeners keeps of a lease, and what wants to know as what the lease keeps it: so that the
/// listener which heals a lease can tell all others on the same count.
interface Traced {

    /// @param traced what the outermost listener returned for the lease; stored, nothing else
    void keptAs(Object traced);
}
