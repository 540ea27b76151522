// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

/// A thing that leases alone hold.
final class LeasedThing extends Thing {

    @Override
    protected boolean heldByLeasesOnly() {
        return true;
    }
}
