// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene.Memory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Every public operation of this module, while each call of libfabric and each foreign call that it makes fails,
/// while libfabric does not take what it is given at first, and while each foreign call calls back.
class EveryOperationFaultTest {

    @AfterEach
    void callsFailNoMore() {
        Libfabric.Seam.watch(null);
    }

    @Test
    void noPublicOperationIsWithoutAFaultRun() throws IOException {
        DomainCalls.all().checkWhole(Path.of("api.txt"));
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        Providers.need(FabricWorld.PROVIDER);
        DomainCalls.all().checkHandles();
    }

    @Test
    @Tag("faults")
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        Providers.need(FabricWorld.PROVIDER);
        FaultCatalogue all = DomainCalls.all();
        FaultRun run = new FaultRun(all.area()).on(Memory.ARENA);
        FaultRun later = new FaultRun(all.area()).on(Memory.ARENA);
        FaultRun back = new FaultRun(all.area()).on(Memory.ARENA).callingBack();
        runs(all, FailingFabric::failing).forEach(run::operation);
        runs(all, FailingFabric::later).forEach(later::operation);
        runs(all, FailingFabric::passing).forEach(back::operation);
        together(List.of(run.report(), later.report(), back.report())).print().check();
    }

    private static Map<String, List<Operation>> runs(FaultCatalogue all, UnaryOperator<Operation> as) {
        Map<String, List<Operation>> runs = new LinkedHashMap<>();
        all.runs()
                .forEach((signature, ways) ->
                        runs.put(signature, ways.stream().map(as).toList()));
        return runs;
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
}
