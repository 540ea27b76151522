// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.heap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.refcount.RefCount;
import io.bulla.testkit.FaultCatalogue;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/// What a run on a full heap says of an operation that hangs.
class FullHeapRunTest {

    private static final String OPERATION = "RefCount.holders()";

    @Test
    void operationThatHangsIsNamedWithItsStack() {
        AssertionError hangs = assertThrows(
                AssertionError.class,
                () -> FullHeapRun.check(Hanging.class, "hanging", 32, 1, 3600, 1, OPERATION, program -> {
                    while (program.isAlive() && !FullHeapRun.stacks(program).contains(".parked(")) {
                        Thread.onSpinWait();
                    }
                    return !program.isAlive();
                }));
        String said = String.valueOf(hangs.getMessage());
        assertTrue(said.startsWith("an operation hangs on a full heap: seed=1 operation=" + OPERATION + "\n"), said);
        assertTrue(said.contains("FullHeapRunTest$Hanging.parked"), said);
    }

    /// A test that names an operation which has another name by now would look at nothing.
    @Test
    void nameOfNoOperationIsRefused() {
        AssertionError none = assertThrows(
                AssertionError.class, () -> FullHeapRun.check(Hanging.class, "hanging", 32, 1, 3600, "renamed"));
        assertEquals(
                "no operation has such a name: operation=renamed calls=" + Hanging.class.getName(), none.getMessage());
    }

    /// One operation, which never begins.
    static final class Hanging {

        private Hanging() {}

        static FaultCatalogue all() {
            return new FaultCatalogue("hanging", RefCount.class).on(OPERATION, scene -> {
                parked();
                throw new AssertionError("never");
            });
        }

        private static void parked() {
            while (true) {
                LockSupport.park();
            }
        }
    }
}
