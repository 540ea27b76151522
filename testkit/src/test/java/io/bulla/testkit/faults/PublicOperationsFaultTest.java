// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Every public operation of the libraries, while each foreign call that it makes fails or calls back.
@Tag("faults")
class PublicOperationsFaultTest {

    @ParameterizedTest
    @ValueSource(strings = {"pool"})
    void everyOperationKeepsItsPromisesWhileAnyCallFails(String area) {
        FaultRun run = new FaultRun(area).callingBack();
        catalogue(area).runs().forEach(run::operation);
        FaultReport report = run.report().print();
        report.check();
    }

    private static Catalogue catalogue(String area) {
        return Catalogue.all().stream()
                .filter(one -> one.area().equals(area))
                .findFirst()
                .orElseThrow();
    }
}
