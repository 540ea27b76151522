// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Every public operation of this module, while each foreign call that it makes fails or calls back.
class EveryOperationFaultTest {

    private static final Pattern TYPE = Pattern.compile("^public .*?\\b(io\\.bulla(?:\\.[a-z]+)+)\\.[A-Z]");
    /// Those of which a part of the name is like it are run, and no others.
    private static final Pattern ONLY = Pattern.compile(System.getProperty("bulla.operation", ""));

    @TempDir
    private Path folder;

    @Test
    void noPublicOperationIsWithoutAFaultRun() {
        assertEquals(List.of(), OobValues.all(folder).missing());
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        OobValues.all(folder).checkHandles();
    }

    @Test
    void everyPackageIsRun() throws IOException {
        Set<String> packages = Files.readAllLines(Path.of("api.txt")).stream()
                .map(TYPE::matcher)
                .filter(Matcher::find)
                .map(type -> type.group(1))
                .collect(Collectors.toSet());
        assertEquals(packages, OobValues.all(folder).packages());
    }

    @Test
    @Tag("faults")
    @Tag("faults-long")
    @Timeout(1800)
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        FaultCatalogue all = OobValues.all(folder);
        FaultRun run = new FaultRun(all.area()).on(Memory.ARENA).callingBack();
        // each failure is logged, with its stack
        Logger log = Logger.getLogger(OobNode.class.getName());
        log.setUseParentHandlers(false);
        try {
            Map<String, List<Operation>> runs = all.runs();
            runs.keySet().removeIf(name -> !ONLY.matcher(name).find());
            runs.forEach(run::operation);
        } finally {
            log.setUseParentHandlers(true);
        }
        run.report().print().check();
    }
}
