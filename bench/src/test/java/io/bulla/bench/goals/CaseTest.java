// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.pool.PoolBenchmark;
import io.bulla.refcount.CountBenchmark;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CaseTest {

    @Test
    @DisplayName("A benchmark keeps the options that it names itself")
    void benchmarkKeepsItsOptions() {
        List<String> named = List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch");
        assertEquals(
                named,
                Arrays.stream(Case.jvmArgs(PoolBenchmark.class))
                        .filter(named::contains)
                        .toList());
        assertEquals(
                List.of(),
                Arrays.stream(Case.jvmArgs(CountBenchmark.class))
                        .filter(option -> !option.startsWith("--"))
                        .toList(),
                "it names none");
    }
}
