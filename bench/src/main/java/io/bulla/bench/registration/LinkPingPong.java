// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.registration;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fabric.FabricDomain;
import io.bulla.fabric.FabricException;
import io.bulla.fabric.FabricLink;
import io.bulla.fabric.LinkLimits;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.posix.memfd.HugePages;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.Revocation;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A buffer goes to another process by rendezvous, and back, again and again; prints the microseconds one way.
/// Arguments: provider, bytes. The other process has a third one.
public final class LinkPingPong {

    /// There and back, measured.
    public static final String ROUNDS = "200";

    private static final int MEASURED = Integer.parseInt(ROUNDS);
    private static final int WARM_UP = 2000;
    private static final Duration LONGEST = Duration.ofSeconds(120);

    private LinkPingPong() {}

    public static void main(String... args) throws Exception {
        if (args.length == 3) {
            try (End end = new End(args[0])) {
                end.meet(
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)),
                        new PrintWriter(System.out, true, StandardCharsets.UTF_8));
                end.echo(WARM_UP + MEASURED);
            }
            return;
        }
        Process other = other(args);
        try (End end = new End(args[0]);
                BufferedReader from = other.inputReader();
                Writer to = new OutputStreamWriter(other.getOutputStream(), StandardCharsets.UTF_8)) {
            end.meet(from, new PrintWriter(to, true));
            end.play(WARM_UP, Integer.parseInt(args[1]));
            long start = System.nanoTime();
            end.play(MEASURED, Integer.parseInt(args[1]));
            System.out.println((System.nanoTime() - start) / 1000.0 / 2 / MEASURED);
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    private static Process other(String... args) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LinkPingPong.class.getName(),
                        args[0],
                        args[1],
                        "echo")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static final class End implements FabricLink.Listener, AutoCloseable {

        private final SlabSource memory = SlabSource.builder()
                .supplier(new HugePages())
                .idle(Duration.ofHours(1))
                .build();
        private final FabricDomain domain;
        private final Registrations registrations;
        private final FabricLink link;
        private @Nullable SealedBuffer arrived;
        private @Nullable String failure;

        End(String provider) throws FabricException {
            domain = FabricDomain.open(provider);
            registrations = Registrations.of(domain, new PinBudget(Long.MAX_VALUE));
            link = FabricLink.open(domain, registrations, memory, new Peer(1, "other"), LinkLimits.USUAL, this);
        }

        void meet(BufferedReader from, PrintWriter to) throws IOException {
            to.println(HexFormat.of().formatHex(link.name()));
            link.connect(HexFormat.of().parseHex(from.readLine()));
        }

        void play(int rounds, int size) throws Exception {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, size)) {
                SealedBuffer ball = builder.put(new byte[size]).seal();
                for (int i = 0; i < rounds; i++) {
                    link.send(ball);
                    ball.close();
                    ball = next();
                }
                ball.close();
            }
        }

        void echo(int rounds) throws Exception {
            for (int i = 0; i < rounds; i++) {
                try (SealedBuffer ball = next()) {
                    link.send(ball).await(LONGEST);
                }
            }
        }

        private SealedBuffer next() {
            long end = System.nanoTime() + LONGEST.toNanos();
            while (arrived == null) {
                if (failure != null || System.nanoTime() - end > 0) {
                    throw new IllegalStateException("no buffer: " + link);
                }
                link.progress();
            }
            SealedBuffer next = arrived;
            arrived = null;
            return next;
        }

        @Override
        public void onBufferMoved(SealedBuffer buffer) {
            arrived = buffer;
        }

        @Override
        public void failed(Peer peer, String why, List<Revocation> revoked) {
            failure = why;
        }

        @Override
        public void close() throws Exception {
            link.close();
            registrations.close();
            memory.close(LONGEST);
        }
    }
}
