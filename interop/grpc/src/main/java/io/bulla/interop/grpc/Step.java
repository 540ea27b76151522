// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

/// An array that the bytes pass through on their way into gRPC's own buffer, which takes arrays only. It stays in
/// the processor's first cache, and is the thread's, so that a send allocates none.
final class Step implements AutoCloseable {

    private static final int BYTES = 16 * 1024;
    private static final ThreadLocal<Step> MINE = ThreadLocal.withInitial(Step::new);

    private final byte[] bytes = new byte[BYTES];
    private boolean taken;

    /// The thread's own; a second one if a sink sends from inside its write.
    static Step take() {
        Step mine = MINE.get();
        Step step = mine.taken ? new Step() : mine;
        step.taken = true;
        return step;
    }

    byte[] bytes() {
        return bytes;
    }

    @Override
    public void close() {
        taken = false;
    }
}
