// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.MemorySource;
import io.bulla.refcount.LeaseTally;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/// Gives a test a [MemorySource] of its own as a parameter, and fails the test if it leaves a handle on it open.
///
/// The memory is poisoned when it is given back. Use: `@ExtendWith(NoOpenHandles.class)`.
public final class NoOpenHandles implements ParameterResolver, AfterEachCallback {

    private static final Namespace SPACE = Namespace.create(NoOpenHandles.class);

    /// The extension, made by JUnit.
    public NoOpenHandles() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
        return parameter.getParameter().getType() == MemorySource.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
        return new PoisoningSource(test.getStore(SPACE).getOrComputeIfAbsent(LeaseTally.class));
    }

    @Override
    public void afterEach(ExtensionContext test) {
        LeaseTally tally = test.getStore(SPACE).get(LeaseTally.class, LeaseTally.class);
        if (tally != null) {
            check(tally);
        }
    }

    static void check(LeaseTally tally) {
        if (tally.open() != 0) {
            throw new AssertionError("handles left open: open=" + tally.open() + " opened=" + tally.totalOpened());
        }
    }
}
