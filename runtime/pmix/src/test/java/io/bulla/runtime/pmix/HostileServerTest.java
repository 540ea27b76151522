// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Compressed;
import io.bulla.pack.Packer;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Value;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.pmix.internal.job.JobData;
import io.bulla.runtime.pmix.internal.message.Answer;
import io.bulla.runtime.pmix.internal.message.Reading;
import io.bulla.runtime.pmix.internal.wire.Command;
import io.bulla.runtime.pmix.internal.wire.Header;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A server that lies about sizes and numbers, or says too much.
@Timeout(300)
class HostileServerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Duration AT_ONCE = Duration.ofMillis(20);
    private static final PmixOptions OPTIONS = PmixOptions.DEFAULT.within(PATIENCE);
    private static final int RANKS = 64;

    static byte[] packed(Consumer<Packer> items) {
        try (ArenaSource memory = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(memory)) {
            items.accept(Packer.into(builder, WireFormat.PMIX_4));
            try (SealedBuffer bytes = builder.seal()) {
                return bytes.toByteArray();
            }
        }
    }

    private static byte[] job(Object size, String localRanks) {
        return packed(items -> items.packString(Capture.NAMESPACE)
                .pack(new Kval("pmix.job.size", new Value(DataType.UINT32, size)))
                .pack(new Kval("pmix.lpeers", Value.of(localRanks))));
    }

    private static byte[] card(int rank) {
        byte[] inside = packed(items -> items.pack(new Proc(Capture.NAMESPACE, rank))
                .pack(new Kval("card", new Value(DataType.INT32, rank)))
                .pack(new Kval("other", Value.of("of " + rank))));
        return packed(items -> items.pack(DataType.STATUS, 0).packByteObject(inside));
    }

    private static PmixClient connect(ScriptedServer server) throws Exception {
        return PmixClient.connect(server.environment(), OPTIONS);
    }

    @Test
    void aHelloThatIsAnsweredInPartEndsByName() throws Exception {
        for (int length = 0; length < 8; length++) {
            byte[] part = Arrays.copyOf(new byte[] {0, 0, 0, 0, 0, 0, 0, 1}, length);
            try (ScriptedServer server = new ScriptedServer(ScriptedServer::captured, part)) {
                PmixOptions hurry = PmixOptions.DEFAULT.within(AT_ONCE);
                PmixException silent =
                        assertThrows(PmixException.class, () -> PmixClient.connect(server.environment(), hurry));
                assertTrue(silent instanceof PmixTimeoutException, silent::getMessage);
            }
        }
    }

    @Test
    void aJobTooLargeToWalkThroughIsRefused() throws Exception {
        for (int size : new int[] {-1, Integer.MAX_VALUE, (1 << 20) + 1}) {
            try (ScriptedServer server =
                    new ScriptedServer((request, peer) -> peer.send(request.tag(), job(size, "0")))) {
                PmixException refused = assertThrows(PmixException.class, () -> connect(server));
                assertEquals(
                        "job over the limit: pmix.job.size=" + Integer.toUnsignedLong(size) + " limit=1048576",
                        refused.getMessage());
            }
        }
        try (ScriptedServer server = new ScriptedServer((request, peer) -> peer.send(request.tag(), job(0, "0")))) {
            assertThrows(PmixException.class, () -> connect(server));
        }
    }

    @Test
    void aRankThatIsSaidTwiceIsOne() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, peer) -> answer(request, peer, job(3, "2,0,0,2")));
                PmixClient client = connect(server)) {
            assertEquals(List.of(0, 2), client.localRanks());
        }
    }

    private static void answer(ScriptedServer.Request request, ScriptedServer.Peer peer, byte[] job)
            throws IOException {
        peer.send(request.tag(), request.command() == 0 ? job : ScriptedServer.SUCCESS);
    }

    @Test
    void sixtyFourRanksTakeOneQuestionEach() throws Exception {
        AtomicInteger questions = new AtomicInteger();
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() == 4) {
                        peer.send(request.tag(), card(questions.incrementAndGet()));
                    } else {
                        answer(request, peer, job(RANKS, "0"));
                    }
                });
                PmixClient client = connect(server)) {
            client.put(PmixScope.GLOBAL, "card", PmixValue.of(0));
            client.put(PmixScope.GLOBAL, "other", PmixValue.of("own"));
            List<Proc> all = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                all.add(client.procOf(rank));
            }
            assertEquals(RANKS, client.getAll(all, "card").size());
            assertEquals(RANKS, client.getAll(all, "other").size());
            assertEquals(
                    PmixValue.of("of 63"),
                    client.get(client.procOf(63), "other").orElseThrow());
            assertEquals(RANKS - 1, questions.get());
        }
    }

    @Test
    void whatIsSaidAgainTakesNoMoreMemory() {
        LeaseTally handles = new LeaseTally();
        try (ArenaSource memory = ArenaSource.create(io.bulla.buffer.MemoryBudget.unlimited(), handles)) {
            Reading reading = new Reading(WireFormat.PMIX_4, OPTIONS.limits());
            JobData data = new JobData(new Proc(Capture.NAMESPACE, 0), reading);
            long once = 0;
            for (int i = 0; i < 100; i++) {
                try (SealedBuffer body =
                                BufferBuilder.create(memory).put(card(1)).seal();
                        Answer answer = new Answer(Command.GET, body.share(), reading, new ClientFailures())) {
                    answer.items().unpackInt(DataType.STATUS);
                    data.takeGet(answer);
                }
                once = i == 0 ? handles.open() : once;
            }
            assertEquals(once, handles.open());
            assertEquals(PmixValue.of("of 1"), data.find(new Proc(Capture.NAMESPACE, 1), "other"));
            data.close();
            assertEquals(0, handles.open());
        }
    }

    private static Info[] bombs(int count, int bytes) {
        IoVec bomb = Compressed.of(new byte[bytes]);
        Info[] infos = new Info[count];
        Arrays.setAll(infos, i -> new Info("key" + i, 0, new Value(DataType.COMPRESSED_BYTE_OBJECT, bomb)));
        return infos;
    }

    private static byte[] ofRankOne(Consumer<Packer> pairs) {
        byte[] inside = packed(items -> pairs.accept(items.pack(new Proc(Capture.NAMESPACE, 1))));
        return packed(items -> items.pack(DataType.STATUS, 0).packByteObject(inside));
    }

    @Test
    void aSmallMessageDoesNotInflateToALargeOne() throws Exception {
        Info[] bombs = bombs(200, 16 << 20);
        byte[] inOneArray = ofRankOne(items -> items.pack(new Kval(
                "bombs", new Value(DataType.DATA_ARRAY, DataArray.of(DataType.INFO, (Object[]) bombs)))));
        byte[] underManyKeys = ofRankOne(items -> {
            for (Info each : bombs) {
                items.pack(new Kval(each.key(), each.value()));
            }
        });
        for (byte[] answer : List.of(inOneArray, underManyKeys)) {
            assertTrue(answer.length < 4 << 20, () -> "bytes=" + answer.length);
            try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                        if (request.command() == 4) {
                            peer.send(request.tag(), answer);
                        } else {
                            ScriptedServer.captured(request, peer);
                        }
                    });
                    PmixClient client = connect(server)) {
                PmixException over = assertThrows(PmixException.class, () -> client.get(client.procOf(1), "key0"));
                assertEquals(PmixStatus.UNPACK_FAILURE, over.status(), over::getMessage);
                client.fence(false, PATIENCE);
            }
        }
    }

    private static byte[] eventOfBombs() {
        return packed(items -> {
            items.pack(DataType.COMMAND, Command.NOTIFY.code())
                    .pack(DataType.STATUS, PmixStatus.LOST_CONNECTION.code())
                    .pack(new Proc(Capture.NAMESPACE, 1))
                    .pack(DataType.SIZE, 100L);
            Info[] bombs = bombs(100, 50_000);
            items.pack(bombs[0], Arrays.copyOfRange(bombs, 1, bombs.length));
        });
    }

    static byte[] event(int bytes) {
        return packed(items -> items.pack(DataType.COMMAND, Command.NOTIFY.code())
                .pack(DataType.STATUS, PmixStatus.LOST_CONNECTION.code())
                .pack(new Proc(Capture.NAMESPACE, 1))
                .pack(DataType.SIZE, 1L)
                .pack(new Info("text", 0, Value.of("x".repeat(bytes)))));
    }

    @Test
    void eventsThatAreTooLongAreDroppedAndCounted() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() == 3) {
                        peer.send(Header.EVENT, event(70_000));
                        peer.send(Header.EVENT, event(4 << 20));
                        peer.send(Header.EVENT, eventOfBombs());
                        peer.send(Header.EVENT, event(60_000));
                    }
                    ScriptedServer.captured(request, peer);
                });
                PmixClient client = connect(server)) {
            BlockingQueue<PmixEvent> heard = new LinkedBlockingQueue<>();
            client.onEvent(Set.of(PmixStatus.LOST_CONNECTION), heard::add);
            client.fence(false, PATIENCE);
            assertEquals(60_000, heard.take().info().get("text").asString().length());
            assertEquals(3, client.droppedEvents());
            assertEquals(0, heard.size());
        }
    }

    @Test
    void aServerThatDoesNotReadHoldsNoCaller() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
            if (request.command() == 3) {
                try {
                    over.await(120, TimeUnit.SECONDS);
                } catch (InterruptedException hurry) {
                    throw new IOException(hurry);
                }
            }
            ScriptedServer.captured(request, peer);
        })) {
            PmixClient client = PmixClient.connect(server.environment(), OPTIONS);
            assertThrows(PmixTimeoutException.class, () -> client.fence(false, AT_ONCE));
            client.put(PmixScope.GLOBAL, "big", PmixValue.of(new byte[32 << 20]));
            Thread committing = Thread.ofVirtual().start(() -> {
                try {
                    client.commit();
                } catch (PmixException | InterruptedException ended) {
                    // by the end
                }
            });
            client.close(AT_ONCE);
            committing.join();
        } finally {
            over.countDown();
        }
    }

    @Test
    void anyTagAtAnyTimeIsSkipped() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    for (int tag : new int[] {1, 2, 3, 99, 100, Integer.MAX_VALUE, -1, request.tag() + 1}) {
                        peer.send(tag, new byte[] {2, 0});
                        peer.send(tag, new byte[0]);
                    }
                    ScriptedServer.captured(request, peer);
                });
                PmixClient client = connect(server)) {
            for (int i = 0; i < 20; i++) {
                client.fence(false, PATIENCE);
            }
            assertTrue(client.lateAnswers() >= 20 * 16, () -> "late=" + client.lateAnswers());
        }
    }
}
