// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/// SIGTERM, by which launchers, systemd and Kubernetes ask a process to leave: the program goes on to its own end,
/// and so to its own status. A second one ends it at once, as each does without this.
///
/// By `sun.misc.Signal`, which the JDK has for such programs, and called by name, since the compiler warns of it in a
/// way that no annotation silences. Where it is not there, or the JVM runs with `-Xrs`, a signal ends the process.
public final class Termination implements AutoCloseable {

    private final CountDownLatch asked = new CountDownLatch(1);
    // what the signal did before; null if it is not watched
    private final @Nullable Object before;

    private Termination() {
        Object former = null;
        try {
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            former = handle(Proxy.newProxyInstance(
                    handler.getClassLoader(),
                    new Class<?>[] {handler},
                    (self, called, given) -> switch (called.getName()) {
                        case "handle" -> leave();
                        case "equals" -> self == given[0];
                        case "hashCode" -> System.identityHashCode(self);
                        default -> "SIGTERM of bulla";
                    }));
        } catch (ReflectiveOperationException notThere) {
            // as it is without this
        }
        before = former;
    }

    /// From now on.
    public static Termination watch() {
        return new Termination();
    }

    /// @return the handler before
    private static @Nullable Object handle(Object handler) throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        return signal.getMethod("handle", signal, Class.forName("sun.misc.SignalHandler"))
                .invoke(null, signal.getConstructor(String.class).newInstance("TERM"), handler);
    }

    private @Nullable Object leave() {
        close();
        asked.countDown();
        return null;
    }

    /// Waits until the process is asked to leave.
    public void await() throws InterruptedException {
        asked.await();
    }

    /// The signal does what it did before.
    @Override
    public void close() {
        Object former = before;
        try {
            if (former != null) {
                handle(former);
            }
        } catch (ReflectiveOperationException cannotBe) {
            // it has been called before
        }
    }
}
