// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.testkit.faults.odd.Odd;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// The public methods of the four libraries, as their class files have them, against the fault runs.
class EveryOperationHasAFaultRunTest {

    @Test
    void noPublicOperationIsWithoutAFaultRun() {
        List<String> missing = new ArrayList<>();
        Catalogue.all().forEach(catalogue -> missing.addAll(catalogue.missing()));
        assertEquals(List.of(), missing);
    }

    @Test
    void operationsAreThoseOfTheApi() {
        TreeSet<String> found = new TreeSet<>();
        Catalogue.all().forEach(catalogue -> found.addAll(catalogue.runs().keySet()));
        for (String known : List.of(
                "Lease.retain(Object, Lease[])",
                "RefCount.free()",
                "DirectReads.getFloat(int)",
                "BuilderDirectBuffer.putStringUtf8(int, String)",
                "ArenaSource.Builder.build()",
                "Packer.packInt32(int[])",
                "MemorySource.Region.release()")) {
            assertTrue(found.contains(known), known);
        }
    }

    @Test
    void operationThatNothingCanBeGivenToIsMissing() {
        assertEquals(
                List.of("no fault run: Odd.take(Odd.Unknown)", "no such operation: Odd.gone()"),
                new Catalogue("odd", Odd.class)
                        .receiver(Odd.class, scene -> new Odd())
                        .on("Odd.gone()", scene -> Call.on(null))
                        .missing());
    }
}
