// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.held.Held;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/// A program that makes buffers loads nothing of the JDK's management, until it is asked for.
class FirstBufferTest {

    @Test
    void managementIsLoadedWhenItIsAskedFor() throws IOException, InterruptedException {
        assertEquals(List.of(), managementIn(Program.class));
        List<String> asked = managementIn(Asked.class);
        assertTrue(asked.stream().anyMatch(line -> line.contains(" javax.management.ObjectName ")), asked::toString);
    }

    private static List<String> managementIn(Class<?> program) throws IOException, InterruptedException {
        Process java = new ProcessBuilder(ForkedJvm.command(program, "-Xlog:class+load"))
                .redirectErrorStream(true)
                .start();
        String said = new String(java.getInputStream().readAllBytes());
        assertEquals(0, java.waitFor(), said);
        assertTrue(said.contains(" io.bulla.buffer.SealedBuffer "), said);
        assertTrue(said.contains("end of the program"), said);
        return said.lines()
                .filter(line -> line.contains(" java.lang.management.")
                        || line.contains(" javax.management.")
                        || line.contains(" sun.management."))
                .toList();
    }

    static final class Program {

        public static void main(String[] args) {
            try (ArenaSource memory =
                            ArenaSource.builder().trace(LeaseLedger.full()).build();
                    BufferBuilder builder = BufferBuilder.create(memory);
                    SealedBuffer message = builder.putLong(1).seal("first")) {
                System.out.println("bytes=" + message.byteSize());
            }
            System.out.println("end of the program");
        }
    }

    static final class Asked {

        public static void main(String[] args) throws Exception {
            ObjectName name = new ObjectName(Held.NAME);
            ManagementFactory.getPlatformMBeanServer().registerMBean(new Held(), name);
            Object budgets = ManagementFactory.getPlatformMBeanServer().getAttribute(name, "Budgets");
            System.out.println(List.of((String[]) budgets));
            Program.main(args);
        }
    }
}
