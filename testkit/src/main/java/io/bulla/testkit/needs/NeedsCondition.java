// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.needs;

import java.util.List;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/// Aborts a test whose needs are not met. For each invocation and not for a class, so that the tests are counted.
final class NeedsCondition implements BeforeEachCallback {

    @Override
    public void beforeEach(ExtensionContext test) {
        for (Class<?> type : test.getEnclosingTestClasses()) {
            tryAll(AnnotationSupport.findRepeatableAnnotations(type, Needs.class));
        }
        tryAll(AnnotationSupport.findRepeatableAnnotations(test.getRequiredTestClass(), Needs.class));
        tryAll(AnnotationSupport.findRepeatableAnnotations(test.getRequiredTestMethod(), Needs.class));
    }

    private static void tryAll(List<Needs> needs) {
        for (Needs each : needs) {
            each.value().orSkip(Answers.of(each.value(), each.by()));
        }
    }
}
