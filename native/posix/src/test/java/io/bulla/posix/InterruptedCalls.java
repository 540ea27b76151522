// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.testkit.FaultRun.Action;
import io.bulla.testkit.FaultRun.Operation;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Operations of a thread that is interrupted: each is done all the same, and the thread stays interrupted; or it is
/// refused, and says so.
final class InterruptedCalls {

    private InterruptedCalls() {}

    static Operation of(Operation way) {
        Operation passing = FailingCalls.passing(way);
        return scene -> {
            Action action = passing.prepare(scene);
            return new Action() {
                @Override
                public @Nullable Object run() throws Exception {
                    Thread.currentThread().interrupt();
                    try {
                        Object result = action.run();
                        checkStays();
                        return result;
                    } catch (InterruptedException refused) {
                        throw new UnsupportedOperationException("interrupted", refused);
                    } catch (IOException refused) {
                        if (!String.valueOf(refused.getMessage()).contains("interrupted")) {
                            throw refused;
                        }
                        checkStays();
                        throw new UnsupportedOperationException("interrupted", refused);
                    } finally {
                        Thread.interrupted();
                    }
                }

                @Override
                public void passed(@Nullable Object result) {
                    action.passed(result);
                }
            };
        };
    }

    private static void checkStays() {
        if (!Thread.currentThread().isInterrupted()) {
            throw new AssertionError("the thread is no longer interrupted");
        }
    }
}
