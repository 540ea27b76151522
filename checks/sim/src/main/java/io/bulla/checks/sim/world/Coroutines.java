// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.world;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/// Virtual threads that run when and where an executor of one's own says. The JDK has them, but not in its API:
/// `--add-opens java.base/java.lang=...`.
public final class Coroutines {

    private static final MethodHandle NEW = find();

    private Coroutines() {}

    public static ThreadFactory scheduledBy(Executor scheduler) {
        return task -> {
            try {
                return (Thread) NEW.invoke(scheduler, (String) null, 0, task);
            } catch (Throwable failure) {
                throw new IllegalStateException(failure);
            }
        };
    }

    private static MethodHandle find() {
        try {
            Method method = Class.forName("java.lang.ThreadBuilders")
                    .getDeclaredMethod("newVirtualThread", Executor.class, String.class, int.class, Runnable.class);
            method.setAccessible(true);
            return MethodHandles.lookup().unreflect(method);
        } catch (ReflectiveOperationException notThisJdk) {
            throw new IllegalStateException(notThisJdk);
        }
    }
}
