package io.bulla.buffer;

import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;

/// What the last handle of a buffer gives back: regions to their source, or the shares that a concatenation holds.
final class Storage extends RefCount {

    private final Runnable giveBack;

    Storage(LeaseTrace trace, Runnable giveBack) {
        super(trace);
        this.giveBack = giveBack;
    }

    @Override
    protected void free() {
        giveBack.run();
    }
}
