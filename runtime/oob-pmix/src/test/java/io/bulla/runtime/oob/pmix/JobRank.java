// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.pmix.PmixClient;
import io.bulla.runtime.pmix.PmixEnvironment;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixOptions;
import io.bulla.runtime.pmix.PmixPartialException;
import io.bulla.runtime.pmix.PmixTimeoutException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// One rank of a job, started by a launcher: what `./check pmix` runs. Its last line says how it went.
///
/// ```
/// work      a message from each node to each, a broadcast of 1 MiB, an orderly end
/// mourn N   the same; then waits until N nodes have failed, prints which, and broadcasts to the rest
/// leave     rank 0 leaves at once; then the others fence, which has to end by a deadline
/// hang      all but the last rank fence, which waits to be killed
/// lost      waits until the launcher has gone
/// bench N   meets the others and joins N times; prints how long it took, without the wait for the others to come
/// ```
final class JobRank {

    private static final int GREETING = 1;
    private static final int PAYLOAD = 2;
    private static final int BYTES = 1 << 20;
    private static final long PATIENCE_SECONDS = 120;
    private static final Duration FENCE = Duration.ofSeconds(10);

    private final PmixClient client;
    private final ArenaSource memory;
    private final BlockingQueue<Verdict> failed = new LinkedBlockingQueue<>();
    private PmixNodes nodes;

    /// What this node has found out of another one.
    private record Verdict(int rank, String reason) {}

    private JobRank(PmixClient client, ArenaSource memory) {
        this.client = client;
        this.memory = memory;
    }

    public static void main(String[] arguments) throws Exception {
        PmixOptions options = PmixOptions.DEFAULT.within(Duration.ofSeconds(PATIENCE_SECONDS));
        if (arguments[0].equals("bench")) {
            JobBench.run(options, Integer.parseInt(arguments[1]));
            return;
        }
        try (ArenaSource memory = ArenaSource.create();
                PmixClient client = PmixClient.connect(PmixEnvironment.ofProcess(), options)) {
            JobRank rank = new JobRank(client, memory);
            switch (arguments[0]) {
                case "work" -> rank.work();
                case "mourn" -> rank.mourn(Integer.parseInt(arguments[1]));
                case "leave" -> rank.leave();
                case "hang" -> rank.hang();
                case "lost" -> rank.lost();
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        } catch (Throwable failure) {
            failure.printStackTrace();
            // a node that is still there would keep the process
            Runtime.getRuntime().halt(1);
        }
    }

    private void work() throws Exception {
        join();
        greetAll();
        broadcast(nodes.members().size() - 1);
        int size = nodes.members().size();
        nodes.leave(Duration.ofSeconds(5));
        say("worked nodes=" + size);
    }

    private void mourn(int dead) throws Exception {
        join();
        Set<Integer> told = ConcurrentHashMap.newKeySet();
        nodes.onGone((rank, event) -> {
            if (told.add(rank)) {
                say("hint rank=" + rank + " status=" + event.status());
            }
        });
        greetAll();
        broadcast(nodes.members().size() - 1);
        say("lives pid=" + ProcessHandle.current().pid());
        for (int i = 0; i < dead; i++) {
            Verdict verdict = nextDead();
            String by = verdict.reason().contains("the launcher says") ? "hint" : "timeout";
            say("verdict rank=" + verdict.rank() + " by=" + by + " reason=[" + verdict.reason() + "]");
        }
        broadcast(nodes.members().size() - 1 - dead);
        nodes.leave(Duration.ofSeconds(5));
        say("worked nodes=" + (nodes.members().size() - dead));
    }

    /// One that has judged before this node, and has nothing left to do, may close meanwhile.
    private Verdict nextDead() throws InterruptedException {
        while (true) {
            Verdict verdict = failed.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (verdict == null) {
                throw new IllegalStateException("no verdict");
            }
            if (!verdict.reason().contains("it has closed")) {
                return verdict;
            }
        }
    }

    private void leave() throws Exception {
        client.fence(false, Duration.ofSeconds(PATIENCE_SECONDS));
        if (client.rank() == 0) {
            client.close();
            say("worked left=first");
            return;
        }
        // the server has to know that it is gone: what two connections say has no order
        Thread.sleep(2_000);
        fenceInTime(FENCE);
    }

    private void hang() throws Exception {
        client.fence(false, Duration.ofSeconds(PATIENCE_SECONDS));
        say("lives pid=" + ProcessHandle.current().pid());
        if (client.rank() == client.size() - 1) {
            Thread.sleep(Duration.ofSeconds(PATIENCE_SECONDS));
        }
        fenceInTime(Duration.ofSeconds(30));
    }

    /// How a fence ends that has lost a member is the engine's: with the status for it, as if all were there, or
    /// never.
    private void fenceInTime(Duration deadline) throws Exception {
        String end;
        try {
            client.fence(false, deadline);
            end = "none";
        } catch (PmixTimeoutException | PmixPartialException ended) {
            end = ended.getClass().getSimpleName();
        }
        client.close();
        say("worked fence=" + end);
    }

    private void lost() throws Exception {
        // as C ranks do that are killed beside: a server refuses a fence whose members do not ask for the same
        client.fence(true, Duration.ofSeconds(PATIENCE_SECONDS));
        say("lives pid=" + ProcessHandle.current().pid());
        PmixException why = client.lost().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        say("worked lost=" + why.status().name());
    }

    private void join() throws Exception {
        try (JobMembers members = JobMembers.meet(client, MeetOptions.DEFAULT.withSecret())) {
            nodes = members.start(OobNode.builder(members.rank(), members.size())
                    .memory(memory)
                    .security(members.security())
                    .peerTimeout(Duration.ofSeconds(30))
                    .helloDeadline(Duration.ofSeconds(30))
                    .onPeerLost((rank, why) -> failed.add(new Verdict(rank, why.getMessage()))));
        }
    }

    /// Everybody sends to everybody its rank, and waits for all of them.
    private void greetAll() throws Exception {
        OobNode node = nodes.node();
        CountDownLatch heard = new CountDownLatch(nodes.members().size() - 1);
        Set<Integer> who = ConcurrentHashMap.newKeySet();
        node.receive(GREETING, message -> {
            if (who.add(message.origin())) {
                heard.countDown();
            }
        });
        try (SealedBuffer word = bytes(new byte[] {(byte) node.rank()})) {
            for (Member member : nodes.members()) {
                if (member.rank() != node.rank()) {
                    node.send(member.rank(), GREETING, word).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                }
            }
        }
        if (!heard.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("heard only of " + who);
        }
    }

    /// Node 0, or the first one that lives, broadcasts; the others verify.
    private void broadcast(int others) throws Exception {
        OobNode node = nodes.node();
        byte[] content = new byte[BYTES];
        new Random(7).nextBytes(content);
        if (node.rank() == 0) {
            try (SealedBuffer payload = bytes(content)) {
                BroadcastResult result =
                        node.broadcast(PAYLOAD, payload).toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                if (result.reached() != others) {
                    throw new IllegalStateException("reached " + result + " of " + others);
                }
            }
            return;
        }
        var message = node.receiveOnce(PAYLOAD).toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        try (SealedBuffer payload = message.buffer()) {
            byte[] found = new byte[Math.toIntExact(payload.byteSize())];
            payload.iovec().copyTo(0, MemorySegment.ofArray(found), found.length);
            if (!Arrays.equals(found, content)) {
                throw new IllegalStateException("payload differs");
            }
        }
    }

    private SealedBuffer bytes(byte[] content) {
        return BufferBuilder.ofCapacity(memory, content.length).put(content).seal();
    }

    private synchronized void say(String what) {
        System.out.println("java: rank=" + client.rank() + " " + what);
        System.out.flush();
    }
}
