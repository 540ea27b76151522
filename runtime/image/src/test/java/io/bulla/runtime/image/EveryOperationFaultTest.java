// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import io.bulla.testkit.FaultScene.Memory;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Every public operation of this module, while each foreign call that it makes fails or calls back.
class EveryOperationFaultTest {

    @TempDir
    private Path folder;

    @Test
    void noPublicOperationIsWithoutAFaultRun() throws IOException {
        ImageCalls.all(folder).checkWhole(Path.of("api.txt"));
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        ImageCalls.all(folder).checkHandles();
    }

    @Test
    @Tag("faults")
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        ImageCalls.all(folder).checkPromises(Memory.ARENA);
    }
}
