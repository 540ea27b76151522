// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.runtime.oob.OobNode;

/// The package's own calls that the simulator needs.
public final class SimulatedCheckpoints {

    private SimulatedCheckpoints() {}

    /// Threads, time and chance of a simulated process.
    public interface Threads extends Agent {}

    /// A simulated process's way to a disk.
    public interface DiskCalls extends Disk {}

    /// Takes part in checkpoints, on these threads.
    public static Checkpoints of(OobNode node, CheckpointStore store, CheckpointOptions options, Threads threads) {
        return Checkpoints.of(node, store, options, threads);
    }

    /// The store of a simulated process.
    public static FolderStore store(DiskCalls disk) {
        return new FolderStore(ForgetfulDisk.ROOT, disk);
    }

    /// The store as it is on the disk itself.
    public static FolderStore store(ForgetfulDisk disk) {
        return new FolderStore(ForgetfulDisk.ROOT, disk);
    }
}
