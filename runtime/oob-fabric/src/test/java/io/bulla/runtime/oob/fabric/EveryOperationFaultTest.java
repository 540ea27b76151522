// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import io.bulla.runtime.oob.fabric.FailingLibfabric.Mode;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultScene.Memory;
import io.bulla.testkit.Violation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Every public operation of this module, with what lines, landings and nodes do by it, while each call of libfabric
/// and each foreign call fails on any thread, while libfabric does not take what is written at first, and while each
/// foreign call calls back.
class EveryOperationFaultTest {

    @AfterEach
    void callsFailNoMore() {
        FailingLibfabric.watch(null);
    }

    @Test
    void noPublicOperationIsWithoutAFaultRun() throws IOException {
        BulkCalls.all(Mode.PASS).checkWhole(Path.of("api.txt"));
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        FabricBulkTest.need(BulkWorld.PROVIDER);
        BulkCalls.all(Mode.PASS).checkHandles();
    }

    @Test
    @Tag("faults")
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        FabricBulkTest.need(BulkWorld.PROVIDER);
        long points = 0;
        long failed = 0;
        int operations = 0;
        List<String> quiet = List.of();
        List<Violation> violations = new ArrayList<>();
        for (Mode mode : Mode.values()) {
            FaultRun run = new FaultRun("oob-fabric").on(Memory.ARENA);
            if (mode == Mode.PASS) {
                // libfabric calls nothing back
                run.callingBack();
            }
            BulkCalls.all(mode).runs().forEach(run::operation);
            FaultReport report = run.report();
            points += report.points();
            failed += report.failed();
            violations.addAll(report.violations());
            quiet = mode == Mode.FAIL ? report.quiet() : quiet;
            operations = report.operations();
        }
        new FaultReport("oob-fabric", operations, points, failed, quiet, violations)
                .print()
                .check();
    }
}
