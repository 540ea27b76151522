// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import java.lang.reflect.Proxy;

/// The log of a class, which does something of a test's own in place of writing. By reflection: this module does not
/// read `java.logging`, which is there with JUnit.
final class FailingLog implements AutoCloseable {

    private final Object logger;
    private final Class<?> filter;

    FailingLog(Class<?> of, Runnable each) {
        try {
            filter = Class.forName("java.util.logging.Filter");
            logger = Class.forName("java.util.logging.Logger")
                    .getMethod("getLogger", String.class)
                    .invoke(null, of.getName());
            set(Proxy.newProxyInstance(
                    FailingLog.class.getClassLoader(), new Class<?>[] {filter}, (self, method, given) -> {
                        each.run();
                        return false;
                    }));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private void set(Object one) throws ReflectiveOperationException {
        logger.getClass().getMethod("setFilter", filter).invoke(logger, one);
    }

    @Override
    public void close() {
        try {
            set(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
