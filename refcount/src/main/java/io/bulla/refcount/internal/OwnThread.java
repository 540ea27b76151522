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

    /// Says that a step failed, if that is possible.
    ///
    /// @param logger by name
    /// @param what failed
    /// @param failure that its step threw
    public static void report(String logger, String what, Throwable failure) {
        try {
            System.getLogger(logger).log(System.Logger.Level.ERROR, what, failure);
        } catch (Throwable unheard) {
            // the log may fail for the same reason: what counts is that the thread goes on
        }
    }
}
