// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts.checkpoints;

import io.bulla.checks.hosts.AgentOutput;
import io.bulla.runtime.checkpoint.CheckpointStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A store that tells when a checkpoint has come to a step, and waits there:
///
/// ```
/// take --> asked --all PREPARED--> prepared --CUT--> saving --> writing --all DURABLE--> publishing --> COMMIT
/// ```
///
/// `asked` and `prepared` are those at which the coordinator asks for an epoch.
final class HeldStore implements CheckpointStore {

    private static final long PAUSE_MILLIS = 20;

    private final CheckpointStore store;
    private boolean asked;
    private @Nullable String step;
    private CountDownLatch released = new CountDownLatch(0);

    HeldStore(CheckpointStore store) {
        this.store = store;
    }

    /// The next time that it is there. A hold of before is over.
    synchronized void hold(String at) {
        release();
        asked = false;
        step = at;
        released = new CountDownLatch(1);
    }

    /// What waits goes on; what has not come there does not wait.
    synchronized void release() {
        step = null;
        released.countDown();
    }

    /// Any thread of a node's; it waits if it shall.
    void reach(String at, long epoch) {
        reach(at, epoch, () -> {});
    }

    /// As [#reach(String, long)], and does something again and again while it waits.
    void reach(String at, long epoch, Runnable meanwhile) {
        CountDownLatch waited;
        synchronized (this) {
            if (!at.equals(step)) {
                return;
            }
            step = null;
            waited = released;
        }
        AgentOutput.say("at", at, epoch);
        boolean interrupted = false;
        while (true) {
            try {
                while (!waited.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
                    meanwhile.run();
                }
                break;
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public RankFile create(long epoch, int rank) throws IOException {
        reach("writing", epoch);
        return store.create(epoch, rank);
    }

    @Override
    public void publish(long epoch, ByteBuffer manifest) throws IOException {
        reach("publishing", epoch);
        store.publish(epoch, manifest);
    }

    @Override
    public List<Long> epochs() throws IOException {
        return store.epochs();
    }

    @Override
    public long nextEpoch() throws IOException {
        boolean again;
        synchronized (this) {
            again = asked;
            asked = true;
        }
        if (again) {
            reach("prepared", 0);
        }
        return store.nextEpoch();
    }

    @Override
    public ReadableByteChannel manifest(long epoch) throws IOException {
        return store.manifest(epoch);
    }

    @Override
    public ReadableByteChannel rank(long epoch, int rank) throws IOException {
        return store.rank(epoch, rank);
    }

    @Override
    public Optional<MemorySegment> mapped(long epoch, int rank) throws IOException {
        return store.mapped(epoch, rank);
    }

    @Override
    public void delete(long epoch) throws IOException {
        store.delete(epoch);
    }
}
