// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.internal.MachineMemory;
import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/// What is known of the machine: by its files, and by the JDK's management where it is present; a runtime image may
/// lack it.
final class JvmDiagnostics {

    private JvmDiagnostics() {}

    /// Memory of the machine or of the container, in bytes.
    static long memory() {
        return memory(MachineMemory.bytes(), isManagedIn(ModuleLayer.boot()));
    }

    /// @param known by the files, 0 if it is not
    static long memory(long known, boolean managed) {
        long bytes = known == 0 && managed ? Management.memory() : known;
        // the heap is a quarter of the machine unless an option says otherwise
        return bytes > 0 ? bytes : Runtime.getRuntime().maxMemory() * 4;
    }

    /// Has the C library give its free memory back to the system, where the JVM offers that.
    ///
    /// @return whether it was offered
    static boolean trim() {
        return trim(isManagedIn(ModuleLayer.boot()));
    }

    static boolean trim(boolean managed) {
        return managed && Management.trim();
    }

    static boolean isManagedIn(ModuleLayer modules) {
        return modules.findModule("jdk.management").isPresent();
    }

    /// A class of its own: the verifier looks up what is caught here, before a line of it runs.
    static final class Management {

        static long memory() {
            return ManagementFactory.getOperatingSystemMXBean()
                            instanceof com.sun.management.OperatingSystemMXBean system
                    ? system.getTotalMemorySize()
                    : 0;
        }

        static boolean trim() {
            return trim(ManagementFactory.getPlatformMBeanServer());
        }

        static boolean trim(MBeanServer beans) {
            try {
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
    }
}
