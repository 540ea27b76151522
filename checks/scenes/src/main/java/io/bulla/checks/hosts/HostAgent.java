// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import static io.bulla.checks.hosts.AgentOutput.say;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseLedger;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.Delivery;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.security.PeerIdentity;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.security.SharedSecret;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/// A node in a process of its own. Lines of its input say what it does, lines of its output what happens, each with
/// the monotonic time, which is one for all processes of a machine.
///
/// | in | out |
/// |---|---|
/// | `peer RANK ADDRESS PORT` | |
/// | `send ID TO BYTES` | `done ID`, `failed ID WHY`, at the receiver `handled ID ok` or `wrong` |
/// | `cast ID BYTES` | `confirmed ID RANKS`, with those that were not reached |
/// | `end` | `ended HANDLES BYTES` |
/// | | `lost RANK WHY` |
/// | | `held FROM UNTIL`, in nanoseconds: it got no processor |
public final class HostAgent {

    static final int PORT = 7000;
    private static final int MESSAGES = 1;
    private static final int BROADCASTS = 2;
    private static final long GAP_NANOS = 200_000_000;
    private static final long LIMIT = 512L << 20;
    private static final Duration DRAIN = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final MemoryBudget budget = new MemoryBudget(LIMIT);
    private final LeaseLedger ledger = LeaseLedger.full();
    private final ArenaSource memory =
            ArenaSource.builder().budget(budget).trace(ledger).build();
    private final Map<Integer, InetSocketAddress> peers = new ConcurrentHashMap<>();
    private final OobNode node;

    private HostAgent(int rank, int size, String address, Duration peerTimeout, Duration heartbeat, String secret)
            throws IOException {
        Security security = secret.isEmpty()
                ? Security.plaintextBeyondLoopback()
                : SharedSecret.of(secret.getBytes(StandardCharsets.UTF_8), new PeerIdentity("hosts", rank));
        node = OobNode.builder(rank, size)
                .memory(memory)
                .security(security)
                .directory(peers::get)
                .bind(new InetSocketAddress(address, PORT))
                .peerTimeout(peerTimeout)
                .heartbeat(heartbeat)
                .queuePerPeer(1 << 16, 256L << 20)
                .receive(MESSAGES, this::handled)
                .receive(BROADCASTS, this::handled)
                .onPeerLost((peer, cause) -> say("lost", peer, cause.getMessage()))
                .start();
    }

    /// @param arguments rank, nodes, address, peer timeout and heartbeat in milliseconds, and a secret for TLS
    public static void main(String[] arguments) throws Exception {
        HostAgent agent = new HostAgent(
                Integer.parseInt(arguments[0]),
                Integer.parseInt(arguments[1]),
                arguments[2],
                Duration.ofMillis(Long.parseLong(arguments[3])),
                Duration.ofMillis(Long.parseLong(arguments[4])),
                arguments.length > 5 ? arguments[5] : "");
        say("ready");
        Thread.ofPlatform().daemon().start(HostAgent::watch);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "peer" ->
                    agent.peers.put(
                            Integer.parseInt(words[1]), new InetSocketAddress(words[2], Integer.parseInt(words[3])));
                case "send" ->
                    agent.send(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
                case "cast" -> agent.cast(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
                case "end" -> {
                    agent.end();
                    return;
                }
                default -> throw new IllegalArgumentException("not a word of an agent's: " + line);
            }
        }
        // the check has ended before its nodes
        Runtime.getRuntime().halt(3);
    }

    /// Tells of times in which this process got no processor.
    private static void watch() {
        long before = System.nanoTime();
        while (true) {
            LockSupport.parkNanos(GAP_NANOS / 4);
            long now = System.nanoTime();
            if (now - before > GAP_NANOS) {
                say("held", before, now);
            }
            before = now;
        }
    }

    private void send(int id, int to, int bytes) {
        try (SealedBuffer message = message(id, bytes)) {
            CompletionStage<Delivery> send = node.send(to, MESSAGES, message);
            send.whenComplete((done, failure) -> {
                if (failure == null) {
                    say("done", id);
                } else {
                    say("failed", id, failure.getMessage());
                }
            });
        } catch (RuntimeException refused) {
            say("failed", id, refused.getMessage());
        }
    }

    private void cast(int id, int bytes) {
        try (SealedBuffer message = message(id, bytes)) {
            CompletionStage<BroadcastResult> cast = node.broadcast(BROADCASTS, message);
            cast.whenComplete((result, failure) -> {
                if (failure == null) {
                    say("confirmed", id, result.failed());
                } else {
                    say("failed", id, failure.getMessage());
                }
            });
        } catch (RuntimeException refused) {
            say("failed", id, refused.getMessage());
        }
    }

    private SealedBuffer message(int id, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, Integer.BYTES + bytes)) {
            return builder.putInt(id).put(content(id, bytes)).seal();
        }
    }

    private static byte[] content(int id, int bytes) {
        byte[] content = new byte[bytes];
        int state = id * 0x9E3779B9 + 1;
        for (int i = 0; i < bytes; i++) {
            state = state * 1664525 + 1013904223;
            content[i] = (byte) (state >>> 24);
        }
        return content;
    }

    private void handled(Message message) {
        byte[] all = message.buffer().toByteArray();
        int id = ByteBuffer.wrap(all).getInt();
        byte[] wanted = content(id, all.length - Integer.BYTES);
        boolean same = Arrays.equals(all, Integer.BYTES, all.length, wanted, 0, wanted.length);
        say("handled", id, all.length - Integer.BYTES, same ? "ok" : "wrong");
    }

    private void end() throws InterruptedException {
        node.close(DRAIN);
        int handles = ledger.open().size();
        memory.close(PATIENCE);
        say("ended", handles, budget.used());
    }
}
