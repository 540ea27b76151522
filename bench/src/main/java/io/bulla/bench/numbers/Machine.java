// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.numbers;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/// The machine that measures, as the first line of every run.
public final class Machine {

    private Machine() {}

    /// Where this runs, and of which commit.
    public static String line() throws IOException {
        Path cpus = Path.of("/proc/cpuinfo");
        String model = Files.isReadable(cpus)
                ? Files.readAllLines(cpus).stream()
                        .filter(line -> line.startsWith("model name"))
                        .map(line -> line.replaceFirst("[^:]*:\\s*", ""))
                        .findFirst()
                        .orElse("unknown")
                : "unknown";
        return String.format(
                Locale.ROOT,
                "machine=\"%s\" cpus=%d load=%.1f memory=%dGiB jdk=%s os=\"%s %s\" tcp=%s commit=%s",
                model,
                Runtime.getRuntime().availableProcessors(),
                system().getSystemLoadAverage(),
                system().getTotalMemorySize() >> 30,
                Runtime.version(),
                System.getProperty("os.name"),
                System.getProperty("os.version"),
                congestionControl(),
                System.getProperty("bulla.commit", "unknown"));
    }

    /// Decides, even on the loopback, how much of a large message is on its way at a time.
    private static String congestionControl() throws IOException {
        Path setting = Path.of("/proc/sys/net/ipv4/tcp_congestion_control");
        return Files.isReadable(setting) ? Files.readString(setting).strip() : "unknown";
    }

    private static OperatingSystemMXBean system() {
        return (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    }
}
