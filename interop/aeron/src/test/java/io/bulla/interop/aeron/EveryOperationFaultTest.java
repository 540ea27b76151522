// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.bulla.buffer.ArenaSource;
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

    private static final int LIMIT = 100_000;

    @TempDir
    private Path folder;

    @Test
    void noPublicOperationIsWithoutAFaultRun() throws IOException {
        AeronCalls.all(null).checkWhole(Path.of("api.txt"));
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        AeronCalls.Arrivals arrivals = new AeronCalls.Arrivals();
        try (Embedded media = new Embedded(folder);
                ArenaSource memory = ArenaSource.create();
                SealedAssembler assembler = new SealedAssembler(memory, LIMIT, arrivals)) {
            AeronCalls.all(AeronCalls.Media.of(media, assembler, arrivals, folder))
                    .checkHandles();
        }
    }

    @Test
    @Tag("faults")
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        AeronCalls.Arrivals arrivals = new AeronCalls.Arrivals();
        try (Embedded media = new Embedded(folder);
                ArenaSource memory = ArenaSource.create();
                SealedAssembler assembler = new SealedAssembler(memory, LIMIT, arrivals)) {
            AeronCalls.all(AeronCalls.Media.of(media, assembler, arrivals, folder))
                    .checkPromises();
        }
    }
}
