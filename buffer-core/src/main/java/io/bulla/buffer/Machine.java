package io.bulla.buffer;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/// What the JDK's management knows, where it is present; a runtime image may lack it.
final class Machine {

    private Machine() {}

    /// Memory of the machine or of the container, in bytes.
    static long memory() {
        if (isPresent("jdk.management")
                && ManagementFactory.getOperatingSystemMXBean()
                        instanceof com.sun.management.OperatingSystemMXBean system) {
            return system.getTotalMemorySize();
        }
        // the heap is a quarter of the machine unless somebody said otherwise
        return Runtime.getRuntime().maxMemory() * 4;
    }

    /// Has the C library give its free memory back to the system, where the JVM offers that.
    ///
    /// @return whether it was offered
    static boolean trim() {
        if (!isPresent("jdk.management")) {
            return false;
        }
        try {
            MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
            beans.invoke(
                    new ObjectName("com.sun.management:type=DiagnosticCommand"),
                    "systemTrimNativeHeap",
                    new Object[0],
                    new String[0]);
            return true;
        } catch (JMException e) {
            return false;
        }
    }

    private static boolean isPresent(String module) {
        return ModuleLayer.boot().findModule(module).isPresent();
    }
}
