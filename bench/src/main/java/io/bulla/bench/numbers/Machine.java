// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.numbers;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The machine that measures, as the first line of every run.
public final class Machine {

    /// Above it other work decides the figures.
    public static final double MOST_LOAD = 3;

    private static final Pattern LOAD = Pattern.compile("load=([0-9.]+)");

    private Machine() {}

    /// What waited for a processor when a run began, of its first line.
    ///
    /// @param line of [#line()]
    /// @return the average of one minute; not a number if the line does not say
    public static double load(String line) {
        Matcher found = LOAD.matcher(line);
        return found.find() ? Double.parseDouble(found.group(1)) : Double.NaN;
    }

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
