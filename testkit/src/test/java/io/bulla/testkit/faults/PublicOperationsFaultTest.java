// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every public operation of the libraries, while each foreign call that it makes fails or calls back.
@Tag("faults")
class PublicOperationsFaultTest {

    @ParameterizedTest
    @MethodSource("areas")
    void everyOperationKeepsItsPromisesWhileAnyCallFails(String area) {
        FaultRun run = new FaultRun(area).callingBack();
        catalogue(area).runs().forEach(run::operation);
        FaultReport report = run.report().print();
        report.check();
    }

    /// All that there are: one that is listed and not run would pass in silence.
    static Stream<String> areas() {
        return Catalogues.all().stream().map(FaultCatalogue::area);
    }

    private static FaultCatalogue catalogue(String area) {
        return Catalogues.all().stream()
                .filter(one -> one.area().equals(area))
                .findFirst()
                .orElseThrow();
    }
}
