// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.heap.FullHeapRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Sends through an [io.bulla.posix.socket.Outbox] in a JVM of its own whose heap is full.
class OutboxHeapFaultTest {

    private static final int RUNS = 4;

    @Test
    @Tag("faults")
    void sendsKeepTheirPromisesOnAFullHeap() throws IOException, InterruptedException {
        long seed = Long.getLong("bulla.seed", 1);
        for (int run = 0; run < RUNS; run++) {
            FullHeapRun.check(Calls.class, "heap-posix", 32, seed + run, 60, "Outbox.");
        }
    }

    /// The calls of the module.
    static final class Calls {

        private Calls() {}

        static FaultCatalogue all() {
            try {
                Path folder = Files.createTempDirectory("bulla-outbox");
                folder.toFile().deleteOnExit();
                return PosixCalls.all(folder);
            } catch (IOException noFolder) {
                throw new UncheckedIOException(noFolder);
            }
        }
    }
}
