// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.local;

import io.bulla.testkit.FaultScene.Memory;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Every public operation of this module, while each foreign call that it makes fails or calls back.
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class EveryOperationFaultTest {

    @TempDir
    private Path folder;

    @Test
    void noPublicOperationIsWithoutAFaultRun() throws IOException {
        SlabMemoryCalls.all(folder).checkWhole(Path.of("api.txt"));
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        SlabMemoryCalls.all(folder).checkHandles();
    }

    @Test
    @Tag("faults")
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        SlabMemoryCalls.all(folder).checkPromises(Memory.ARENA);
    }
}
