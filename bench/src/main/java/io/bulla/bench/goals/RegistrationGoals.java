// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.programs.DirectWrites;
import io.bulla.bench.programs.FirstSend;
import io.bulla.bench.programs.ProgramOutput;
import io.bulla.bench.registration.BulkStream;
import io.bulla.bench.registration.LinkPingPong;
import io.bulla.bench.registration.RegistrationBenchmark;
import io.bulla.bench.registration.UsableAgain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// What it costs that devices know memory.
public final class RegistrationGoals {

    private static final String TCP = "tcp;ofi_rxm";
    private static final int MIB = 1 << 20;
    private static final String KILLS = "20";

    private RegistrationGoals() {}

    /// The goals, in the order in which they are printed.
    ///
    /// @return a fresh list
    public static List<Goal> all() {
        Case cached = writes("cached");
        return List.of(
                Goal.atMost(0.4, "registration-use-100", use(100, 1), Case.c(CProgram.RCACHE, "100")),
                Goal.compare("registration-use-10000", use(10_000, 1), Case.c(CProgram.RCACHE, "10000")),
                // handle, vector, stamp, slab, registration
                Goal.atMost(1.5, "registration-use-10000-lines", use(10_000, 1), Case.c(CProgram.LINES, "10000-5")),
                Goal.atMost(1, "registration-use-1-2t", use(1, 2), Case.c(CProgram.RCACHE, "1-2t")),
                Goal.atMost(2, "registration-grant-revoke", grant(), Case.c(CProgram.FABRIC, TCP + "+1")),
                Goal.compare("registration-grant-revoke-alone", grant(), Case.c(CProgram.FABRIC, TCP)),
                Goal.atMost(
                        1,
                        "registration-death-to-usable",
                        Case.program("ms", UsableAgain.class, TCP, KILLS),
                        Case.limit(50, "ms")),
                Goal.atMost(0.8, "registration-direct-write-per-send", cached, writes("per-send")),
                Goal.compare("registration-direct-write-copy", cached, writes("copy")),
                Goal.compare("registration-direct-write-plain", cached, writes("plain")),
                Goal.atMost(1.05, "registration-direct-write-bare", cached, writes("bare")),
                Goal.atMost(
                        1.15,
                        "registration-rendezvous-4m",
                        Case.program("us", LinkPingPong.class, TCP, Integer.toString(4 * MIB)),
                        pingPong(4 * MIB)),
                bulk("registration-bulk-1m", MIB),
                bulk("registration-bulk-4m", 4 * MIB),
                bulk("registration-bulk-16m", 16 * MIB),
                Goal.atMost(0.15, "registration-first-send-16m", first("huge"), first("small")),
                Goal.atMost(2, "registration-first-send-16m-huge", first("huge"), firstInC("huge")),
                Goal.atMost(1.1, "registration-first-send-16m-small", first("small"), firstInC("small")),
                Goal.compare("registration-first-send-16m-floor", firstInC("huge"), firstInC("small")));
    }

    /// Messages of nodes, beside their connection and by it.
    private static Goal bulk(String name, int size) {
        return Goal.compare(name, stream(TCP, size), stream("connection", size));
    }

    private static Case stream(String way, int size) {
        return Case.program("us", BulkStream.class, way, Integer.toString(size));
    }

    private static Case use(int slabs, int threads) {
        return Case.jmh(RegistrationBenchmark.class, "useThenEnd", threads, "slabs=" + slabs);
    }

    private static Case grant() {
        return Case.jmh(RegistrationBenchmark.class, "grantThenRevoke", 1, "slabs=1");
    }

    private static Case writes(String way) {
        return Case.program("us", DirectWrites.class, way);
    }

    private static Case first(String pages) {
        return Case.program("us", FirstSend.class, pages);
    }

    private static Case firstInC(String pages) {
        return Case.c(CProgram.FIRST_SEND, pages);
    }

    /// The provider's own: libfabric's `fi_pingpong`, two processes, microseconds a transfer.
    private static Case pingPong(int size) {
        return new Case("fi_pingpong[" + size + "]", "us", _ -> {
            if (!Files.isExecutable(Path.of("/usr/bin/fi_pingpong"))) {
                throw new Case.Skipped("fi_pingpong is not here (apt: libfabric-bin)");
            }
            return serveAndAsk(List.of(
                    "fi_pingpong", "-p", TCP, "-e", "rdm", "-I", LinkPingPong.ROUNDS, "-S", Integer.toString(size)));
        });
    }

    private static double serveAndAsk(List<String> command) throws IOException, InterruptedException {
        Process server = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            // it has no line that says that it listens
            Thread.sleep(1000);
            ProgramOutput output = ProgramOutput.of(
                    Stream.concat(command.stream(), Stream.of("127.0.0.1")).toList());
            // bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec
            String[] columns = output.lastLine().trim().split("\\s+");
            if (output.status() != 0 || columns.length < 8) {
                throw new IOException("program failed: program=fi_pingpong status=" + output.status());
            }
            return Double.parseDouble(columns[6]);
        } finally {
            server.destroyForcibly().waitFor();
        }
    }
}
