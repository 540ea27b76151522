// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Every public operation of this module, while each foreign call that it makes fails or calls back.
class EveryOperationFaultTest {

    @Test
    void noPublicOperationIsWithoutAFaultRun() throws IOException {
        RegistrationCalls.all().checkWhole(Path.of("api.txt"));
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        RegistrationCalls.all().checkHandles();
    }

    @Test
    @Tag("faults")
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        RegistrationCalls.all().checkPromises();
    }
}
