// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import javax.management.MBeanServerFactory;
import org.junit.jupiter.api.Test;

/// When free memory goes back to the system, and how much of it a machine has.
class TrimmerTest {

    @Test
    void eightMebibytesAreWorthATrim() {
        Trimmer trimmer = new Trimmer();
        trimmer.closed(5 << 20);
        trimmer.closed((3 << 20) - 1);
        assertFalse(trimmer.isWorthIt());
        trimmer.closed(1);
        assertTrue(trimmer.isWorthIt());
        assertFalse(trimmer.isWanted());
        trimmer.want();
        assertTrue(trimmer.isWanted());
        trimmer.trim();
        assertFalse(trimmer.isWorthIt());
        assertFalse(trimmer.isWanted());
        assertEquals(JvmDiagnostics.trim() ? 1 : 0, trimmer.trims());
    }

    @Test
    void jvmOfTheseTestsOffersATrim() {
        assertTrue(JvmDiagnostics.trim());
        assertTrue(JvmDiagnostics.isManagedIn(ModuleLayer.boot()));
    }

    @Test
    void jvmThatOffersNoTrimIsLeftAlone() {
        assertFalse(JvmDiagnostics.isManagedIn(ModuleLayer.empty()));
        assertFalse(JvmDiagnostics.trim(false));
        assertFalse(JvmDiagnostics.Management.trim(MBeanServerFactory.newMBeanServer()), "no such command");
    }

    @Test
    void memoryIsThatOfTheFilesOrOfTheJdkOrFourHeaps() {
        assertEquals(5, JvmDiagnostics.memory(5, true));
        assertEquals(5, JvmDiagnostics.memory(5, false));
        assertEquals(4 * Runtime.getRuntime().maxMemory(), JvmDiagnostics.memory(0, false));
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        assertEquals(system.getTotalMemorySize(), JvmDiagnostics.memory(0, true));
        assertTrue(JvmDiagnostics.memory() > 0);
    }
}
