// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults.taking;

import io.bulla.buffer.SealedBuffer;
import java.util.List;

/// Operations whose names say what becomes of the handle, and such whose names do not.
public final class Taker {

    public Taker() {}

    public long read(SealedBuffer buffer) {
        return buffer.byteSize();
    }

    public void moveIn(SealedBuffer handle) {
        handle.close();
    }

    public void onBufferMoved(SealedBuffer handle) {
        handle.close();
    }

    public void take(SealedBuffer handle) {
        handle.close();
    }

    public void takeOfSeveral(SealedBuffer... handles) {
        handles[0].close();
    }

    public void takeTheSecond(SealedBuffer... handles) {
        handles[1].close();
    }

    public void takeListed(SealedBuffer ignored, List<SealedBuffer> handles) {
        handles.getFirst().close();
    }

    public void remove(SealedBuffer handle) {
        handle.close();
    }

    public long moveNothing(SealedBuffer handle) {
        return handle.byteSize();
    }

    public void takeAndFail(SealedBuffer handle) {
        handle.close();
        throw new UnsupportedOperationException("taken");
    }
}
