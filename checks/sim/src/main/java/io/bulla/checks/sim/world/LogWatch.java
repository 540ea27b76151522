// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.world;

import io.bulla.runtime.oob.OobNode;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/// Hands each line of a node's log to the run of its thread, and prints none.
public final class LogWatch extends Handler {

    // loggers that nothing refers to are forgotten, with their settings
    private static final Logger NODES = Logger.getLogger(OobNode.class.getName());
    private static final Logger NETTY = Logger.getLogger("io.netty");
    private static LogWatch installed;

    private static final ThreadLocal<Listener> TOLD = new InheritableThreadLocal<>();

    /// Hears what is logged on the threads of a run.
    public interface Listener {

        /// It may throw, as a log that is full does.
        void line(LogRecord line);
    }

    private LogWatch() {}

    /// Of this thread, and of those that it starts.
    public static void install(Listener told) {
        TOLD.set(told);
        install();
    }

    public static void forget() {
        TOLD.remove();
    }

    private static synchronized void install() {
        if (installed == null) {
            LogWatch watch = new LogWatch();
            installed = watch;
            NODES.setLevel(Level.FINE);
            NODES.setUseParentHandlers(false);
            NODES.addHandler(watch);
            NETTY.setLevel(Level.WARNING);
            NETTY.setUseParentHandlers(false);
            NETTY.addHandler(watch);
        }
    }

    public static synchronized void uninstall() {
        NODES.removeHandler(installed);
        NETTY.removeHandler(installed);
        installed = null;
    }

    @Override
    public void publish(LogRecord line) {
        Listener told = TOLD.get();
        if (told != null) {
            told.line(line);
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
