// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants;

import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/// Skips the tests after the first failure: there is no more to learn from them. Nor is there from what a failed test
/// waits for when it tidies up: its thread is interrupted. Registered by `ci/mutants`.
public final class SkipAfterFailure implements ExecutionCondition, AfterTestExecutionCallback, TestWatcher {

    private static volatile boolean failed;

    static void begin() {
        failed = false;
    }

    @Override
    public void afterTestExecution(ExtensionContext context) {
        if (context.getExecutionException().isPresent()) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        failed = true;
        Thread.interrupted();
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return failed
                ? ConditionEvaluationResult.disabled("after a failure")
                : ConditionEvaluationResult.enabled("no failure yet");
    }
}
