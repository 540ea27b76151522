// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Every public operation of this module, while each foreign call that it makes fails or calls back.
class EveryOperationFaultTest {

    private static final Pattern TYPE = Pattern.compile("^public .*?\\b(io\\.bulla(?:\\.[a-z]+)+)\\.[A-Z]");

    @Test
    void noPublicOperationIsWithoutAFaultRun() {
        assertEquals(List.of(), FanoutCalls.all().missing());
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        FanoutCalls.all().checkHandles();
    }

    @Test
    void everyPackageIsRun() throws IOException {
        Set<String> packages = Files.readAllLines(Path.of("api.txt")).stream()
                .map(TYPE::matcher)
                .filter(Matcher::find)
                .map(type -> type.group(1))
                .collect(Collectors.toSet());
        assertEquals(packages, FanoutCalls.all().packages());
    }

    @Test
    @Tag("faults")
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        FaultCatalogue all = FanoutCalls.all();
        FaultRun run = new FaultRun(all.area()).callingBack();
        all.runs().forEach(run::operation);
        run.report().print().check();
    }
}
