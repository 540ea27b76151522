// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Every public operation of this module, again and again, while its first, second, ... n-th system call fails with
/// each error number that it can answer with, until the operation passes untouched. After each, nothing may stay:
/// no descriptor, mapping, handle or booked byte; and the bytes are right, or the failure has a name.
@Tag("faults")
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class PosixFaultTest {

    private static final Path MAIN = Path.of("src", "main", "java");
    private static final Pattern DOWNCALL =
            Pattern.compile("\\b(?:function|critical|variadic|numbered)\\(\\s*\"(\\w+)\"");
    private static final Pattern METHOD = Pattern.compile("\\s+public .*?(\\w+)\\((.*)\\).*");
    private static final Pattern TYPE =
            Pattern.compile("public .*?(?:class|interface|enum|record) [a-z.]+\\.([A-Z]\\w*).*");
    private static final int MOST_CALLS = 500;

    @TempDir
    private Path folder;

    private final List<String> violations = new ArrayList<>();
    private final Set<String> failedCalls = new TreeSet<>();
    private int points;

    /// What there is before an operation, and has to be after it.
    private record State(long files, long memoryFiles, long rings) {

        static State now() throws IOException {
            return new State(
                    Descriptors.open(), Descriptors.mappings("/memfd:"), Descriptors.mappings("anon_inode:[io_uring]"));
        }

        /// Fewer are no loss: others open and close files, too.
        boolean isMoreThan(State before) {
            return files > before.files || memoryFiles > before.memoryFiles || rings > before.rings;
        }

        /// Waits for files that others open for a moment, such as a class being read.
        static State settled(State before) throws IOException {
            State now = now();
            for (int wait = 0; wait < 2_000 && now.isMoreThan(before); wait++) {
                LockSupport.parkNanos(5_000_000);
                now = now();
            }
            return now;
        }
    }

    @Test
    void nothingIsLostWhicheverCallFails() throws Exception {
        FaultOperations operations = new FaultOperations(folder);
        for (FaultOperations.Operation operation : operations.all()) {
            run(operations, operation, null);
            sweep(operations, operation);
        }
        System.out.println("faults: area=posix operations=" + operations.all().size() + " points=" + points
                + " violations=" + violations.size());
        assertEquals(List.of(), violations);
        Set<String> mayFail = Injector.calls().stream()
                .filter(call -> Injector.ERRNOS.get(call).length > 0)
                .collect(Collectors.toCollection(TreeSet::new));
        if (!operations.hasRing()) {
            mayFail.removeIf(call -> call.startsWith("io_uring"));
        }
        assertEquals(mayFail, failedCalls, "calls that no operation was run with");
    }

    private void sweep(FaultOperations operations, FaultOperations.Operation operation) throws Exception {
        for (int nth = 1; nth <= MOST_CALLS; nth++) {
            Injector injector;
            int choice = 0;
            do {
                injector = new Injector(nth, choice++);
                run(operations, operation, injector);
                if (injector.failed() == null) {
                    return;
                }
                points++;
                failedCalls.add(injector.failed());
            } while (!injector.wasLast());
        }
        violations.add(operation.name() + ": never passes untouched");
    }

    private void run(FaultOperations operations, FaultOperations.Operation operation, Injector injector)
            throws Exception {
        String where = operation.name() + (injector == null ? " untouched" : "");
        State before = State.now();
        Throwable failure = null;
        try (FaultOperations.Ends ends = operations.open(operation)) {
            SyscallInterceptor.watch(injector);
            try {
                operation.body().run(ends);
            } catch (Throwable thrown) {
                failure = thrown;
            }
            operations.awaitAllBack();
        } finally {
            SyscallInterceptor.watch(null);
        }
        State after = State.settled(before);
        if (injector != null) {
            where += " call=" + injector.failed() + " errno=" + injector.errno();
        }
        judge(where, failure, injector);
        if (after.isMoreThan(before)) {
            violations.add(where + ": before=" + before + " after=" + after);
        }
        operations.leftovers().forEach(left -> violations.add(operation.name() + ": " + left));
    }

    private void judge(String where, Throwable failure, Injector injector) {
        if (failure == null) {
            return;
        }
        boolean fault = injector != null && injector.failed() != null;
        boolean byName = failure instanceof IOException
                || failure instanceof IllegalStateException
                || failure instanceof UnsupportedOperationException;
        if (!fault || !byName || !names(failure, injector)) {
            violations.add(where + ": " + failure);
        }
    }

    private static boolean names(Throwable failure, Injector injector) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            String message = String.valueOf(each.getMessage());
            if (message.contains("errno=" + injector.errno())) {
                return true;
            }
        }
        return false;
    }

    /// A new downcall needs error numbers, and with them a run.
    @Test
    void everySystemCallOfTheCodeIsInTheList() throws IOException {
        Set<String> inTheCode = new TreeSet<>();
        int linkers = 0;
        try (Stream<Path> files = Files.walk(MAIN)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String source = Files.readString(file);
                Matcher found = DOWNCALL.matcher(source);
                while (found.find()) {
                    inTheCode.add(found.group(1));
                }
                linkers += source.contains("downcallHandle(") ? 1 : 0;
            }
        }
        assertEquals(1, linkers, "only Libc makes handles");
        assertEquals(Injector.calls(), inTheCode);
    }

    /// A new public operation needs a run, or a line that says that it makes no system call.
    @Test
    void everyPublicOperationIsRun() throws IOException {
        Set<String> published = new TreeSet<>();
        String type = "";
        for (String line : Files.readAllLines(Path.of("api.txt"))) {
            Matcher start = TYPE.matcher(line);
            Matcher method = METHOD.matcher(line);
            if (start.matches()) {
                type = start.group(1);
            } else if (FaultOperations.TYPES.contains(type) && method.matches()) {
                published.add(type + "." + method.group(1));
            }
        }
        assertTrue(published.size() > 20, published::toString);
        Set<String> run = new TreeSet<>(FaultOperations.WITHOUT_CALLS);
        new FaultOperations(folder).all().forEach(operation -> run.addAll(operation.covers()));
        assertEquals(published, run);
    }

    @Test
    void faultIsInjectedWhereItIsAskedFor() throws Exception {
        Injector second = new Injector(2, 0);
        SyscallInterceptor.watch(second);
        try {
            PosixSocket[] pair = PosixSocket.unixPair();
            // refused, and asked again
            pair[0].awaitWritable(0);
            pair[0].close();
            pair[1].close();
        } finally {
            SyscallInterceptor.watch(null);
        }
        assertEquals("poll", second.failed());
        assertArrayEquals(new int[] {4, 12}, Injector.ERRNOS.get("poll"));
    }
}
