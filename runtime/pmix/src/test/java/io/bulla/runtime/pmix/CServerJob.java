// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Value;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/// Four clients and the C server in one process of its own: what `./check pmix` runs. Its last line says how it went.
///
/// Argument: the kind of buffer that the server has to ask for, as in `PMIX_BFROP_BUFFER_TYPE`.
final class CServerJob {

    private static final int SIZE = 4;
    private static final int BIG_BYTES = 2 << 20;
    private static final long PATIENCE_SECONDS = 120;
    private static final Duration PATIENCE = Duration.ofSeconds(PATIENCE_SECONDS);
    private static final Duration FENCE = Duration.ofSeconds(3);
    private static final PmixOptions OPTIONS = PmixOptions.DEFAULT.within(PATIENCE);

    private final List<PmixClient> clients = new ArrayList<>();
    private final ExecutorService callers = Executors.newFixedThreadPool(SIZE);

    /// Code of one rank.
    private interface Step {
        void run(PmixClient client) throws Exception;
    }

    public static void main(String[] arguments) {
        try (CServer server = new CServer()) {
            CServerJob job = new CServerJob();
            job.run(server, arguments[0]);
            System.out.println("server: " + server.version() + " buffer=" + arguments[0] + " worked clients=" + SIZE);
        } catch (IllegalArgumentException notThere) {
            System.out.println("server skipped: " + notThere.getMessage());
        } catch (Throwable failure) {
            failure.printStackTrace();
            // callers that wait would keep the process
            Runtime.getRuntime().halt(1);
        }
        System.exit(0);
    }

    private void run(CServer server, String buffer) throws Throwable {
        for (Map<String, String> variables : server.register("bulla.c-server", SIZE)) {
            same(buffer, variables.get("PMIX_BFROP_BUFFER_TYPE"), "kind of buffer");
            clients.add(PmixClient.connect(PmixEnvironment.of(variables), OPTIONS));
        }
        all(this::exchange);
        heapAndThreads();
        all(this::refusals);
        leaveBeforeFence();
    }

    private static Map<String, PmixValue> values(int rank) {
        Map<String, PmixValue> values = new LinkedHashMap<>();
        values.put("text", PmixValue.of("rank " + rank + " – äöü 漢字"));
        values.put("empty", PmixValue.of(""));
        values.put("number", PmixValue.of(-rank - 1));
        values.put("bytes", PmixValue.of(bytes(rank, 1 << 10)));
        values.put("long", PmixValue.of("long ".repeat(2_000) + rank));
        values.put("unsigned", new PmixValue(new Value(DataType.UINT64, Long.MIN_VALUE + rank)));
        values.put("truth", new PmixValue(new Value(DataType.BOOL, rank % 2 == 0)));
        values.put("real", new PmixValue(new Value(DataType.DOUBLE, rank + 0.5)));
        return values;
    }

    private static byte[] bytes(int seed, int count) {
        byte[] bytes = new byte[count];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private void exchange(PmixClient client) throws Exception {
        same(SIZE, client.size(), "size");
        values(client.rank()).forEach((key, value) -> client.put(PmixScope.GLOBAL, key, value));
        client.commit();
        client.fence(true, PATIENCE);
        for (int rank = 0; rank < SIZE; rank++) {
            for (Map.Entry<String, PmixValue> expected : values(rank).entrySet()) {
                PmixValue found =
                        client.get(client.procOf(rank), expected.getKey()).orElseThrow();
                same(expected.getValue(), found, "key " + expected.getKey() + " of rank " + rank);
            }
        }
        same(Optional.empty(), client.get(client.procOf(0), "never.put"), "what was never put");
        for (int i = 0; i < 100; i++) {
            client.fence(false, PATIENCE);
        }
    }

    /// One rank puts 2 MiB, each of four gets them: what stays is the job's data, once for each client.
    private void heapAndThreads() throws Exception {
        clients.getFirst().put(PmixScope.GLOBAL, "big", PmixValue.of(bytes(9, BIG_BYTES)));
        clients.getFirst().commit();
        all(client -> client.fence(true, PATIENCE));
        long before = heap();
        for (PmixClient client : clients) {
            client.forget(client.procOf(0));
            Optional<PmixValue> big = client.get(client.procOf(0), "big");
            if (!Arrays.equals(bytes(9, BIG_BYTES), big.orElseThrow().asBytes())) {
                throw new IllegalStateException("big value differs: rank=" + client.rank());
            }
        }
        double times = (heap() - before) / (double) BIG_BYTES / SIZE;
        List<String> threads = threads();
        System.out.printf("server: heap=%.2f times the data, threads=%s%n", times, threads);
        if (times > 4) {
            throw new IllegalStateException("heap over 4 times the data: " + times);
        }
        same(List.of("reader", "reader", "reader", "reader"), threads, "threads");
    }

    private static long heap() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(20);
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    /// The clients' threads, with all that are virtual.
    private static List<String> threads() throws Exception {
        Path folder = Files.createTempDirectory("bulla-threads");
        Path dump = folder.resolve("dump");
        try {
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(dump.toString(), ThreadDumpFormat.TEXT_PLAIN);
            return Files.readAllLines(dump).stream()
                    .filter(line -> line.startsWith("#") && line.contains("\"bulla-pmix-"))
                    .map(line -> line.replaceAll(".*\"bulla-pmix-([a-z]*)\".*", "$1"))
                    .sorted()
                    .toList();
        } finally {
            Files.deleteIfExists(dump);
            Files.delete(folder);
        }
    }

    /// A server without a host program publishes nothing: it says so, and the connection goes on.
    private void refusals(PmixClient client) throws Exception {
        PmixException refused = fails(() ->
                client.publish(Map.of("service", PmixValue.of(1)), PmixRange.NAMESPACE, PmixPersistence.APPLICATION));
        if (refused instanceof PmixTimeoutException) {
            throw refused;
        }
        client.fence(false, PATIENCE);
    }

    /// A server waits for a rank that has left, for ever, or ends the fence without it, and then says so or does not
    /// (5.0.7). Whatever it does, the call ends in time, and the connection goes on.
    private void leaveBeforeFence() throws Exception {
        PmixClient left = clients.removeLast();
        left.close();
        all(client -> {
            try {
                client.fence(false, FENCE);
            } catch (PmixTimeoutException | PmixPartialException ended) {
                // as expected
            }
            // others can still be waited for, and asked
            client.fence(Set.of(client.procOf(0), client.procOf(1), client.procOf(2)), false, PATIENCE);
            client.forget(client.procOf(0));
            client.get(client.procOf(0), "text").orElseThrow();
        });
        all(PmixClient::close);
    }

    private interface Call {
        void run() throws Exception;
    }

    private static PmixException fails(Call call) throws Exception {
        try {
            call.run();
        } catch (PmixException expected) {
            return expected;
        }
        throw new IllegalStateException("did not fail");
    }

    private void all(Step step) throws Exception {
        CompletionService<Void> running = new ExecutorCompletionService<>(callers);
        for (PmixClient client : clients) {
            running.submit(() -> {
                step.run(client);
                return null;
            });
        }
        // the first one that fails, for the others may wait for it
        for (int i = 0; i < clients.size(); i++) {
            Future<Void> next = running.poll(2 * PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (next == null) {
                throw new IllegalStateException("ranks that did not end: " + (clients.size() - i));
            }
            next.get();
        }
    }

    private static void same(Object expected, Object found, String what) {
        if (!expected.equals(found)) {
            throw new IllegalStateException(what + ": expected=" + expected + " found=" + found);
        }
    }
}
