// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Which frames of a stack are told.
class TakenAtTest {

    private static final String PACKAGE = "io.bulla.refcount.";

    private static List<String> told(String... types) {
        StackTraceElement[] stack = Stream.of(types)
                .map(type -> new StackTraceElement(type, "call", null, 1))
                .toArray(StackTraceElement[]::new);
        return TakenAt.callers(stack, Claim.class).stream()
                .map(StackTraceElement::getClassName)
                .toList();
    }

    @Test
    void framesOfTheListenerAndTheLeaseAreLeftOut() {
        assertEquals(
                List.of("app.Sender", PACKAGE + "Lease", "java.lang.Thread"),
                told(
                        PACKAGE + "LeaseLedger",
                        PACKAGE + "CompositeTrace",
                        PACKAGE + "Lease",
                        PACKAGE + "Claim",
                        "app.Sender",
                        PACKAGE + "Lease",
                        "java.lang.Thread"));
    }

    @Test
    void framesOfTheLeasesPackageAreLeftOutIfACallerIsLeft() {
        assertEquals(
                List.of("app.Sender", "app.Main"),
                told(PACKAGE + "Lease", PACKAGE + "Fan", PACKAGE + "Tree", "app.Sender", "app.Main"));
        assertEquals(List.of("Main"), told(PACKAGE + "Lease", PACKAGE + "Fan", "Main"), "a class of no package");
        assertEquals(
                List.of("io.bulla.refcount.of.others.Main"),
                told(PACKAGE + "Lease", "io.bulla.refcount.of.others.Main"));
    }

    @Test
    void framesOfTheLeasesPackageStayIfNoCallerIsLeft() {
        assertEquals(List.of(PACKAGE + "Fan"), told(PACKAGE + "Lease", PACKAGE + "Fan"));
        for (String jdk : List.of("java.lang.Thread", "jdk.internal.vm.Continuation")) {
            assertEquals(List.of(PACKAGE + "Fan", jdk), told(PACKAGE + "Claim", PACKAGE + "Fan", jdk));
        }
    }

    @Test
    void nothingIsLeftOfAStackThatIsAllMachinery() {
        assertEquals(List.of(), told(PACKAGE + "LeaseLedger", PACKAGE + "Lease"));
        assertEquals(List.of(), told());
    }
}
