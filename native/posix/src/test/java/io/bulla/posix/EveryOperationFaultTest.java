// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.FixedBufferTables;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.fixtures.ZeroCopySockets;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene.Memory;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Every public operation of this module, while each system call and each foreign call that it makes fails, while
/// each foreign call calls back, and while its thread is interrupted. What needs a piece of the machine is run by a
/// test of its own; together they run all.
class EveryOperationFaultTest {

    @TempDir
    private Path folder;

    @AfterEach
    void callsFailNoMore() {
        SyscallInterceptor.watch(null);
    }

    @Test
    void noPublicOperationIsWithoutAFaultRun() throws IOException {
        PosixCalls.all(folder).checkWhole(Path.of("api.txt"));
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        checkHandles(Part.REST);
    }

    @Test
    @Needs(value = Piece.ZERO_COPY, by = ZeroCopySockets.class)
    void onlyOfZeroCopySocketsWhatSaysMoveTakesAHandle() {
        checkHandles(Part.ZERO_COPY);
    }

    @Test
    @Needs(value = Piece.IO_URING, by = FixedBufferTables.class)
    void onlyOfFilesWhatSaysMoveTakesAHandle() {
        checkHandles(Part.FILES);
    }

    @Test
    @Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
    void onlyOfMemoryFilesWhatSaysMoveTakesAHandle() {
        checkHandles(Part.MEMORY_FILES);
    }

    @Test
    @Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
    void onlyOfLendingWhatSaysMoveTakesAHandle() {
        checkHandles(Part.LENDING);
    }

    private void checkHandles(Part part) {
        PosixCalls.all(folder).checkHandles(signature -> Part.of(signature) == part);
    }

    @Test
    @Tag("faults")
    void everyOperationKeepsItsPromisesWhileAnyCallFails() throws Exception {
        keepsItsPromises(Part.REST);
    }

    @Test
    @Tag("faults")
    @Needs(value = Piece.ZERO_COPY, by = ZeroCopySockets.class)
    void everyOperationOfZeroCopySocketsKeepsItsPromisesWhileAnyCallFails() throws Exception {
        keepsItsPromises(Part.ZERO_COPY);
    }

    @Test
    @Tag("faults")
    @Needs(value = Piece.IO_URING, by = FixedBufferTables.class)
    void everyOperationOfFilesKeepsItsPromisesWhileAnyCallFails() throws Exception {
        keepsItsPromises(Part.FILES);
    }

    @Test
    @Tag("faults")
    @Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
    void everyOperationOfMemoryFilesKeepsItsPromisesWhileAnyCallFails() throws Exception {
        keepsItsPromises(Part.MEMORY_FILES);
    }

    @Test
    @Tag("faults")
    @Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
    void everyOperationOfLendingKeepsItsPromisesWhileAnyCallFails() throws Exception {
        keepsItsPromises(Part.LENDING);
    }

    /// Operations that need the same piece of the machine.
    private enum Part {
        ZERO_COPY("ZeroCopySocket"),
        FILES("FixedBufferTable", "FixedBufferOperation", "SealedFileWriter"),
        MEMORY_FILES("MemfdSource", "MappingProtection", "SealedFileHandoff"),
        LENDING("SharedSlabSource", "SlabLender", "SlabPeer", "SlabBorrower"),
        REST;

        private final Set<String> types;

        Part(String... types) {
            this.types = Set.of(types);
        }

        private static Part of(String signature) {
            String type = signature.substring(0, signature.indexOf('.'));
            for (Part each : values()) {
                if (each.types.contains(type)) {
                    return each;
                }
            }
            return REST;
        }

        String area(String of) {
            return of
                    + (this == REST ? "" : "-" + name().toLowerCase(Locale.ROOT).replace('_', '-'));
        }
    }

    private void keepsItsPromises(Part part) throws Exception {
        long descriptors = Descriptors.open();
        FaultCatalogue all = PosixCalls.all(folder);
        FaultRun run = new FaultRun(part.area(all.area())).on(Memory.ARENA);
        runs(all, part, FailingCalls::failing).forEach(run::operation);
        FaultRun back = new FaultRun(part.area(all.area())).on(Memory.ARENA).callingBack();
        runs(all, part, FailingCalls::passing).forEach(back::operation);
        FaultRun interrupted = new FaultRun(part.area(all.area())).on(Memory.ARENA);
        runs(all, part, InterruptedCalls::of).forEach(interrupted::operation);
        together(List.of(run.report(), back.report(), interrupted.report()))
                .print()
                .check();
        Descriptors.assertOpen(descriptors);
    }

    /// The same operations, run in several ways.
    private static FaultReport together(List<FaultReport> reports) {
        FaultReport first = reports.getFirst();
        return new FaultReport(
                first.area(),
                first.operations(),
                reports.stream().mapToLong(FaultReport::points).sum(),
                reports.stream().mapToLong(FaultReport::failed).sum(),
                first.quiet(),
                reports.stream().flatMap(each -> each.violations().stream()).toList());
    }

    private static Map<String, List<Operation>> runs(FaultCatalogue all, Part part, UnaryOperator<Operation> as) {
        Map<String, List<Operation>> runs = new LinkedHashMap<>();
        all.runs().forEach((signature, ways) -> {
            if (Part.of(signature) == part) {
                runs.put(signature, ways.stream().map(as).toList());
            }
        });
        return runs;
    }
}
