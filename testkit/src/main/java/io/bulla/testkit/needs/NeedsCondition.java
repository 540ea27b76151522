// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.needs;

import java.lang.reflect.AnnotatedElement;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;
import org.junit.platform.commons.support.AnnotationSupport;

/// Aborts a test whose needs are not met: for each invocation and not for a class, so that the tests are counted.
/// What a class needs is tried before its instance is made, whose fields may need it too.
final class NeedsCondition implements TestInstancePreConstructCallback, BeforeEachCallback {

    @Override
    public void preConstructTestInstance(TestInstanceFactoryContext instance, ExtensionContext test) {
        tryAll(instance.getTestClass());
    }

    @Override
    public void beforeEach(ExtensionContext test) {
        tryAll(test.getRequiredTestMethod());
    }

    private static void tryAll(AnnotatedElement needing) {
        for (Needs each : AnnotationSupport.findRepeatableAnnotations(needing, Needs.class)) {
            each.value().orSkip(Answers.of(each.value(), each.by()));
        }
    }
}
