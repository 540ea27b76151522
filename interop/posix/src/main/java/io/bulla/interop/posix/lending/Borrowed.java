// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix.lending;

import io.bulla.iovec.Generation;

/// One lease of a borrowed buffer, and the stamp of its bytes: the stamp ends first, then the lease goes
/// back.
final class Borrowed extends Generation implements Runnable {

    private final SlabView view;
    private final Saying giveBack;

    Borrowed(SlabView view, Saying giveBack) {
        this.view = view;
        this.giveBack = giveBack;
    }

    /// The last handle is closed.
    @Override
    public void run() {
        switch (end()) {
            case FREE -> rested();
            case ESCAPED -> {
                view.endFor(giveBack);
                view.leave();
            }
            // the call that still reads says when
            case RESTS -> {}
            case AGAIN -> throw new IllegalStateException("lease given back twice");
        }
    }

    @Override
    protected void rested() {
        try {
            giveBack.now();
        } finally {
            view.leave();
        }
    }
}
