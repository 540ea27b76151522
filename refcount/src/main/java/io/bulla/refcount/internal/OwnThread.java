// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.internal;

/// A daemon thread that belongs to no caller: its group is the root one, it has the system's class loader and no
/// inherited thread locals.
public final class OwnThread {

    private OwnThread() {}

    /// A thread, not started.
    ///
    /// @param name of the thread
    /// @param task that goes on after whatever its steps throw
    /// @return to be started
    public static Thread of(String name, Runnable task) {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread fresh = new Thread(root, task, name, 0, false);
        fresh.setDaemon(true);
        fresh.setPriority(Thread.NORM_PRIORITY);
        fresh.setContextClassLoader(ClassLoader.getSystemClassLoader());
        return fresh;
    }

    /// What is said when a step of such a thread fails. It is made ahead: the first use of a literal takes heap, and
    /// where there is none it would throw in the very handler that keeps the thread alive.
    ///
    /// @param logger by name
    /// @param what failed
    public record Report(String logger, String what) {

        /// Says it, if that is possible.
        ///
        /// @param failure that the step threw
        public void say(Throwable failure) {
            try {
                System.getLogger(logger).log(System.Logger.Level.ERROR, what, failure);
            } catch (Throwable unheard) {
                // the log may fail for the same reason: what counts is that the thread goes on
            }
        }
    }
}
