// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.pool.Slab;
import java.util.function.Consumer;

/// A slab that a borrower was given: the borrower is one of its holders, as a device would be, so its memory
/// is not given to another slab while the borrower may have it mapped.
///
/// ```
/// given --wanted, nothing lent--> told to unmap --says so, or its string hangs up--> let go
/// ```
final class LentSlab implements Slab.Holder {

    private final Object owner;
    private final Consumer<LentSlab> whenWanted;
    private final Slab slab;
    // both under the peer's lock
    int leases;
    boolean toldToUnmap;

    /// @param owner the borrower
    /// @param whenWanted told that the slab's memory is wanted back
    LentSlab(Object owner, Consumer<LentSlab> whenWanted, Slab slab) {
        this.owner = owner;
        this.whenWanted = whenWanted;
        this.slab = slab;
    }

    long id() {
        return slab.id();
    }

    /// @return false if the slab's life is over
    boolean hold() {
        return slab.hold(this);
    }

    void letGo() {
        slab.letGo(this);
    }

    @Override
    public Object owner() {
        return owner;
    }

    @Override
    public void wanted() {
        whenWanted.accept(this);
    }
}
