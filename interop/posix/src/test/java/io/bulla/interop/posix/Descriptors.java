// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryBudget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Counts what a test may leave behind.
final class Descriptors {

    private static final Set<String> KEPT_GROUPS = Set.of("system", "InnocuousThreadGroup");
    private static final Set<String> KEPT = Set.of("ForkJoinPool.commonPool", "CompletableFutureDelayScheduler");

    private Descriptors() {}

    /// Open files of this process, but for the classes that it reads.
    static long open() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(descriptor -> !isOfClasses(descriptor)).count();
        }
    }

    private static boolean isOfClasses(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.endsWith(".jar") || target.endsWith(".class") || target.endsWith("/modules");
        } catch (IOException closedMeanwhile) {
            return true;
        }
    }

    /// Mappings of this process that name a file with this in its name.
    static long mappings(String name) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(name)).count();
        }
    }

    /// Memory files of Bulla's that are open or mapped in this process.
    static long memoryFiles() throws IOException {
        long open;
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            open = files.filter(Descriptors::isMemoryFile).count();
        }
        return open + mappings("/memfd:" + Memfd.NAME);
    }

    /// Waits until there is no memory file any more: they are unmapped by a thread of its own.
    static void assertNoMemoryFile() throws IOException {
        for (int wait = 0; memoryFiles() != 0 && wait < 12_000; wait++) {
            LockSupport.parkNanos(5_000_000);
        }
        assertEquals(0, memoryFiles());
    }

    /// Waits until nothing is booked: the last thing that is done for a file.
    static void assertBookedOff(MemoryBudget budget) {
        for (int wait = 0; budget.used() != 0 && wait < 12_000; wait++) {
            LockSupport.parkNanos(5_000_000);
        }
        assertEquals(0, budget.used());
    }

    private static boolean isMemoryFile(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("/memfd:" + Memfd.NAME);
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    /// Waits until no more descriptors are open than before: those of the JDK's own, and of tests before, come and
    /// go.
    static void assertOpen(long before) throws IOException, InterruptedException {
        long now = open();
        for (int wait = 0; now > before && wait < 12_000; wait++) {
            Thread.sleep(5);
            now = open();
        }
        assertTrue(now <= before, "descriptors: before=" + before + " now=" + now);
    }

    /// Number and target of each, but for the classes that this process reads.
    static Set<String> targets() throws IOException {
        Set<String> all = new TreeSet<>();
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            for (Path each :
                    files.filter(descriptor -> !isOfClasses(descriptor)).toList()) {
                Path target = Files.readSymbolicLink(each);
                // this loop's own has another number each time
                if (!target.endsWith("fd")) {
                    all.add(each.getFileName() + " " + target);
                }
            }
        } catch (NoSuchFileException closedMeanwhile) {
            return targets();
        }
        return all;
    }

    /// Waits until none is open that was opened since.
    static void assertNoneSince(Set<String> before) throws IOException, InterruptedException {
        Set<String> since = targets();
        since.removeAll(before);
        for (int wait = 0; !since.isEmpty() && wait < 12_000; wait++) {
            Thread.sleep(5);
            since = targets();
            since.removeAll(before);
        }
        assertEquals(Set.of(), since);
    }

    /// Waits until as many mappings name a file with this in its name as before.
    static void assertMapped(long before, String name) throws IOException, InterruptedException {
        long now = mappings(name);
        for (int wait = 0; now != before && wait < 12_000; wait++) {
            Thread.sleep(5);
            now = mappings(name);
        }
        assertEquals(before, now);
    }

    /// Live threads, but for those that the JDK keeps for everybody.
    static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getThreadGroup() != null
                        && !KEPT_GROUPS.contains(thread.getThreadGroup().getName())
                        && KEPT.stream().noneMatch(thread.getName()::startsWith))
                .collect(Collectors.toSet());
    }

    /// Waits until no thread lives that did not before.
    static void assertThreads(Set<Thread> before) throws InterruptedException {
        Set<Thread> stayed = threads();
        for (int wait = 0; !before.containsAll(stayed) && wait < 12_000; wait++) {
            Thread.sleep(5);
            stayed = threads();
        }
        stayed.removeAll(before);
        assertEquals(Set.of(), stayed);
    }
}
