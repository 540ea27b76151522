// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.sim;

import io.bulla.runtime.oob.OobNode;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/// Hands each line of a node's log to the simulation of its thread, and prints none.
final class LogWatch extends Handler {

    // loggers that nothing refers to are forgotten, with their settings
    private static final Logger NODES = Logger.getLogger(OobNode.class.getName());
    private static final Logger NETTY = Logger.getLogger("io.netty");
    private static LogWatch installed;

    // of runs that are no Simulation
    private static final ThreadLocal<Machines.Log> TOLD = new InheritableThreadLocal<>();

    private LogWatch() {}

    static void install(Machines.Log told) {
        TOLD.set(told);
        install();
    }

    static void forget() {
        TOLD.remove();
    }

    static synchronized void install() {
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

    static synchronized void uninstall() {
        NODES.removeHandler(installed);
        NETTY.removeHandler(installed);
        installed = null;
    }

    @Override
    public void publish(LogRecord line) {
        Simulation simulation = Simulation.current();
        Machines.Log told = TOLD.get();
        if (simulation == null && told != null) {
            String thrown = line.getThrown() == null ? "" : " " + line.getThrown();
            told.line(line.getLevel().intValue() >= Level.SEVERE.intValue(), line.getMessage() + thrown);
        }
        if (simulation == null) {
            return;
        }
        if (line.getLoggerName().startsWith("io.netty")) {
            simulation.ledger.violation("netty complains", line.getMessage() + " " + line.getThrown());
        } else {
            simulation.logged(line.getLevel(), line.getMessage());
            if (line.getLevel().intValue() >= Level.SEVERE.intValue() && simulation.isLogFull()) {
                simulation.sights.see("log throws");
                throw new OutOfMemoryError("simulated: no memory for a line of the log");
            }
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
