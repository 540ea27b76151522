// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Value;
import io.bulla.runtime.pmix.internal.wire.Header;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A client and a server that says captured bytes, or worse.
@Timeout(300)
class PmixClientTest {

    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Duration AT_ONCE = Duration.ofMillis(20);
    private static final PmixOptions OPTIONS = PmixOptions.DEFAULT.within(PATIENCE);

    private static PmixClient connect(ScriptedServer server) throws Exception {
        return PmixClient.connect(server.environment(), OPTIONS);
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    @Test
    void requestsAreTheBytesOfTheClientInC() throws Exception {
        try (ScriptedServer server = new ScriptedServer(ScriptedServer::captured)) {
            try (PmixClient client = connect(server)) {
                client.put(PmixScope.GLOBAL, "lab.str", PmixValue.of("hello-from-c"));
                client.put(PmixScope.REMOTE, "lab.int", PmixValue.of(1000));
                client.put(PmixScope.GLOBAL, "lab.bo", PmixValue.of(new byte[] {'a', 'b', 'c'}));
                client.commit();
                client.fence(true, PATIENCE);
                client.get(client.procOf(1), "lab.none");
                client.fence(false, PATIENCE);
            }
            for (int said : new int[] {0, 1, 3, 5, 8, 14}) {
                assertArrayEquals(Capture.request(said), server.requests.take().body(), "request " + said);
            }
        }
    }

    @Test
    void helloIsTheOneOfTheClientInC() throws Exception {
        try (ScriptedServer server = new ScriptedServer(ScriptedServer::captured);
                PmixClient client = connect(server)) {
            assertEquals(2, client.size());
            byte[] ours = server.hello;
            byte[] theirs = Capture.hello();
            // a version of another length; the C client's hello ends with a zero that means nothing
            assertArrayEquals(Arrays.copyOfRange(theirs, 16, 27), Arrays.copyOfRange(ours, 16, 27));
            byte[] end = "v41\0\001hash\0".getBytes(StandardCharsets.US_ASCII);
            assertArrayEquals(end, Arrays.copyOfRange(ours, ours.length - end.length, ours.length));
        }
    }

    @Test
    void theJobIsWhatTheServerSays() throws Exception {
        try (ScriptedServer server = new ScriptedServer(ScriptedServer::captured);
                PmixClient client = connect(server)) {
            assertEquals(2, client.size());
            assertEquals(List.of(0, 1), client.localRanks());
            assertEquals(client.hostOf(0), client.hostOf(1));
            assertEquals(2, client.jobInfo().get("pmix.job.size").asLong());
            assertEquals(Optional.of(PmixValue.of("hello-from-c")), client.get(client.procOf(1), "lab.str"));
            // the same answer brought it
            assertArrayEquals(
                    new byte[] {'a', 'b', 'c'},
                    client.get(client.procOf(1), "lab.bo").orElseThrow().asBytes());
            assertEquals(2, server.requests.size());
        }
    }

    @Test
    void anAnswerThatIsCutAnywhereEndsTheCallByName() throws Exception {
        byte[] whole = Capture.answer(0);
        byte[] frame = ScriptedServer.frame(Header.FIRST_TAG + 1, whole.length, whole);
        int[] length = new int[1];
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
            byte[] all = ScriptedServer.frame(request.tag(), whole.length, whole);
            peer.raw(Arrays.copyOf(all, length[0]));
            peer.socket().close();
        })) {
            for (length[0] = 0; length[0] < frame.length; length[0]++) {
                PmixException cut = assertThrows(PmixException.class, () -> connect(server));
                assertEquals(PmixStatus.LOST_CONNECTION, cut.status(), () -> length[0] + " " + cut);
                assertTrue(cut.getMessage().contains("PMIx server"), cut::getMessage);
            }
        }
    }

    @Test
    void aBodyThatIsCutAnywhereIsRefusedAndTheConnectionGoesOn() throws Exception {
        byte[] whole = Capture.answer(4);
        int[] length = {1};
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() == 4) {
                        peer.send(request.tag(), Arrays.copyOf(whole, length[0]));
                    } else {
                        ScriptedServer.captured(request, peer);
                    }
                });
                PmixClient client = connect(server)) {
            int refused = 0;
            for (; length[0] < whole.length; length[0]++) {
                try {
                    client.get(client.procOf(1), "lab.str");
                } catch (PmixException cut) {
                    assertEquals(PmixStatus.UNPACK_FAILURE, cut.status(), cut::getMessage);
                    refused++;
                }
            }
            // a status alone is an answer without keys; so is one that ends with whole keys, if its length says so
            assertTrue(refused >= whole.length - 3, "refused=" + refused + " of " + whole.length);
            length[0] = whole.length;
            assertTrue(client.get(client.procOf(1), "lab.str").isPresent());
        }
    }

    @Test
    void bytesMayComeOneByOneAndTwice() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
            byte[] body = request.command() == 0 ? Capture.answer(0) : ScriptedServer.SUCCESS;
            byte[] frame = ScriptedServer.frame(request.tag(), body.length, body);
            for (byte each : frame) {
                peer.raw(new byte[] {each});
            }
            peer.raw(frame);
            peer.raw(ScriptedServer.frame(77, 3, new byte[3]));
        })) {
            PmixClient client = connect(server);
            for (int i = 0; i < 5; i++) {
                client.fence(false, PATIENCE);
            }
            assertTrue(client.lateAnswers() >= 10, () -> "late=" + client.lateAnswers());
            client.close();
        }
    }

    @Test
    void aFenceThatIsNotAnsweredEndsByDeadlineAndIsNotBegunTwice() throws Exception {
        BlockingQueue<Integer> waiting = new LinkedBlockingQueue<>();
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() == 3) {
                        waiting.add(request.tag());
                    } else {
                        ScriptedServer.captured(request, peer);
                    }
                });
                PmixClient client = connect(server)) {
            assertThrows(PmixTimeoutException.class, () -> client.fence(false, AT_ONCE));
            int first = waiting.take();
            PmixException second = assertThrows(PmixException.class, () -> client.fence(false, PATIENCE));
            assertTrue(second.getMessage().startsWith("a fence of the same members is not answered yet"));
            server.peers.peek().send(first, ScriptedServer.SUCCESS);
            // an answer to another call comes behind the late one
            client.abort(1, "not really");
            assertThrows(PmixTimeoutException.class, () -> client.fence(false, AT_ONCE));
        }
    }

    @Test
    void aPartialFenceIsNamed() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() == 3) {
                        peer.send(request.tag(), new byte[] {2, 103});
                    } else {
                        ScriptedServer.captured(request, peer);
                    }
                });
                PmixClient client = connect(server)) {
            PmixPartialException partial =
                    assertThrows(PmixPartialException.class, () -> client.fence(false, PATIENCE));
            assertEquals(PmixStatus.PARTIAL_SUCCESS, partial.status());
            assertTrue(partial.getMessage().contains("ERR_PARTIAL_SUCCESS(-52)"), partial::getMessage);
        }
    }

    @Test
    void lengthsOverTheLimitFailTheCallOrTheConnection() throws Exception {
        AtomicInteger fences = new AtomicInteger();
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    switch (request.command()) {
                        case 3 -> {
                            if (fences.incrementAndGet() > 1) {
                                ScriptedServer.captured(request, peer);
                                return;
                            }
                            int length = (64 << 20) + 1;
                            peer.raw(ScriptedServer.frame(request.tag(), length, new byte[0]));
                            byte[] part = new byte[1 << 20];
                            for (int left = length; left > 0; left -= part.length) {
                                peer.raw(Arrays.copyOf(part, Math.min(left, part.length)));
                            }
                        }
                        case 1 -> peer.raw(ScriptedServer.frame(7777, 0xffff_ffffL, new byte[0]));
                        default -> ScriptedServer.captured(request, peer);
                    }
                });
                PmixClient client = connect(server)) {
            PmixException over = assertThrows(PmixException.class, () -> client.fence(false, PATIENCE));
            assertEquals(PmixStatus.OUT_OF_RESOURCE, over.status());
            assertTrue(over.getMessage().contains("bytes=67108865 limit=67108864"), over::getMessage);
            // that one was answered, so these members may go on
            client.fence(false, PATIENCE);
            assertTrue(client.get(client.procOf(1), "lab.str").isPresent());
            PmixException lost = assertThrows(PmixException.class, () -> client.abort(1, "x"));
            assertTrue(lost.getMessage().contains("bytes=4294967295 limit=67108864"), lost::getMessage);
            assertEquals(
                    lost.getMessage(),
                    client.lost()
                            .toCompletableFuture()
                            .get(120, TimeUnit.SECONDS)
                            .getMessage());
        }
    }

    @Test
    void anInterruptEndsTheWaitAndNotTheConnection() throws Exception {
        CompletableFuture<Void> asked = new CompletableFuture<>();
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() == 3) {
                        asked.complete(null);
                    } else {
                        ScriptedServer.captured(request, peer);
                    }
                });
                PmixClient client = connect(server)) {
            AtomicReference<Throwable> end = new AtomicReference<>();
            Thread waiting = Thread.ofVirtual().start(() -> {
                try {
                    client.fence(false, PATIENCE);
                } catch (Throwable failure) {
                    end.set(failure);
                }
            });
            asked.get();
            waiting.interrupt();
            waiting.join();
            assertInstanceOf(InterruptedException.class, end.get());
            assertTrue(client.get(client.procOf(1), "lab.str").isPresent());
        }
    }

    @Test
    void aLostConnectionFailsEachCallOnceAndTellsTheProgram() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
            if (request.command() == 3) {
                peer.socket().close();
            } else {
                ScriptedServer.captured(request, peer);
            }
        })) {
            PmixClient client = connect(server);
            PmixException lost = assertThrows(PmixException.class, () -> client.fence(false, PATIENCE));
            assertEquals(PmixStatus.LOST_CONNECTION, lost.status(), lost::getMessage);
            assertEquals(
                    PmixStatus.LOST_CONNECTION,
                    client.lost()
                            .toCompletableFuture()
                            .get(120, TimeUnit.SECONDS)
                            .status());
            assertThrows(PmixException.class, () -> client.get(client.procOf(1), "lab.str"));
            client.close();
            client.close();
        }
    }

    @Test
    void afterTheEndACallIsRefusedByName() throws Exception {
        try (ScriptedServer server = new ScriptedServer(ScriptedServer::captured)) {
            PmixClient client = connect(server);
            client.close();
            PmixException left = assertThrows(PmixException.class, () -> client.fence(false, PATIENCE));
            assertTrue(left.getMessage().startsWith("the client has left the job"), left::getMessage);
            assertFalse(client.lost().toCompletableFuture().isDone());
            assertEquals(Map.of(), client.jobInfo());
        }
    }

    @Test
    void aRefusedHelloIsNamed() throws Exception {
        byte[] invalidCredential = {-1, -1, -1, -12};
        try (ScriptedServer server = new ScriptedServer(ScriptedServer::captured, invalidCredential)) {
            PmixException refused = assertThrows(PmixException.class, () -> connect(server));
            assertEquals("ERR_INVALID_CRED(-12)", refused.status().toString());
            assertTrue(refused.getMessage().startsWith("the PMIx server refuses the hello: status=ERR_INVALID_CRED"));
        }
    }

    @Test
    void aServerThatRefusesTheJobsDataIsNamed() throws Exception {
        try (ScriptedServer server =
                new ScriptedServer((request, peer) -> peer.send(request.tag(), new byte[] {2, 0x5b}))) {
            PmixException refused = assertThrows(PmixException.class, () -> connect(server));
            assertEquals(PmixStatus.NOT_FOUND, refused.status(), refused::getMessage);
        }
    }

    @Test
    void aSilentServerEndsTheConnectByDeadline() throws Exception {
        try (ScriptedServer server = new ScriptedServer(ScriptedServer::captured, new byte[0])) {
            PmixOptions brief = PmixOptions.DEFAULT.within(AT_ONCE);
            PmixException silent =
                    assertThrows(PmixException.class, () -> PmixClient.connect(server.environment(), brief));
            assertEquals(PmixStatus.TIMEOUT, silent.status(), silent::getMessage);
        }
    }

    @Test
    void eventsComeToThoseWhoNamedTheirCode() throws Exception {
        // COMMAND 12 | STATUS -402 | PROC 21430273.0 | SIZE 1 | INFO pmix.evproc PROC 21430273.1
        byte[] event = bytes("020c 02a306 0212 3231343330323733 00 00 0202 0218 706d69782e657670726f6300 00 16"
                + "12 3231343330323733 00 01");
        BlockingQueue<PmixEvent> told = new LinkedBlockingQueue<>();
        try (ScriptedServer server = new ScriptedServer(ScriptedServer::captured);
                PmixClient client = connect(server)) {
            PmixClient.Registration wish = client.onEvent(Set.of(PmixStatus.ABORTED_BY_SIGNAL), told::add);
            ScriptedServer.Peer peer = server.peers.peek();
            peer.send(Header.EVENT, new byte[] {1, 2, 3});
            peer.send(Header.EVENT, event);
            PmixEvent first = told.poll(120, TimeUnit.SECONDS);
            assertEquals(PmixStatus.ABORTED_BY_SIGNAL, first.status());
            assertEquals(List.of(client.procOf(1)), first.affected());
            assertEquals(1, client.droppedEvents());
            wish.close();
            client.fence(false, PATIENCE);
            assertTrue(server.requests.stream().anyMatch(request -> request.command() == 14));
        }
    }

    @Test
    void wishForEventsIsWaitedForBehindOtherCalls() throws Exception {
        AtomicReference<ScriptedServer.Request> held = new AtomicReference<>();
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() == 13) {
                        held.set(request);
                        return;
                    }
                    if (request.command() == 3) {
                        peer.send(held.get().tag(), ScriptedServer.SUCCESS);
                    }
                    ScriptedServer.captured(request, peer);
                });
                PmixClient client = connect(server)) {
            BlockingQueue<PmixEvent> told = new LinkedBlockingQueue<>();
            PmixPendingRegistration wish = client.requestEvents(Set.of(PmixStatus.LOST_CONNECTION), told::add);
            server.peers.peek().send(Header.EVENT, HostileServerTest.event(10));
            assertEquals(PmixStatus.LOST_CONNECTION, told.take().status(), "before the answer");
            client.fence(false, PATIENCE);
            wish.await();
            assertEquals(0, client.lateAnswers());
            IllegalStateException again = assertThrows(IllegalStateException.class, wish::await);
            assertTrue(again.getMessage().startsWith("the wish for events was waited for or closed before: codes="));
            wish.close();
            wish.close();
            client.fence(false, PATIENCE);
            assertEquals(
                    1,
                    server.requests.stream()
                            .filter(request -> request.command() == 14)
                            .count());
        }
    }

    @Test
    void wishForEventsThatIsClosedUnansweredIsTakenBack() throws Exception {
        CompletableFuture<ScriptedServer.Request> asked = new CompletableFuture<>();
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() == 13) {
                        asked.complete(request);
                        return;
                    }
                    ScriptedServer.captured(request, peer);
                });
                PmixClient client = connect(server)) {
            PmixPendingRegistration wish = client.requestEvents(Set.of(PmixStatus.LOST_CONNECTION), event -> {});
            int tag = asked.get().tag();
            wish.close();
            assertThrows(IllegalStateException.class, wish::await);
            server.peers.peek().send(tag, ScriptedServer.SUCCESS);
            client.fence(false, PATIENCE);
            assertEquals(1, client.lateAnswers());
            assertTrue(server.requests.stream().anyMatch(request -> request.command() == 14));
        }
    }

    @Test
    void wishForEventsThatIsRefusedHearsNothing() throws Exception {
        BlockingQueue<PmixEvent> told = new LinkedBlockingQueue<>();
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() == 13) {
                        peer.send(request.tag(), new byte[] {2, 0x5b});
                        return;
                    }
                    ScriptedServer.captured(request, peer);
                });
                PmixClient client = connect(server)) {
            PmixPendingRegistration wish = client.requestEvents(Set.of(PmixStatus.LOST_CONNECTION), told::add);
            PmixException refused = assertThrows(PmixException.class, wish::await);
            assertEquals(PmixStatus.NOT_FOUND, refused.status(), refused::getMessage);
            server.peers.peek().send(Header.EVENT, HostileServerTest.event(10));
            BlockingQueue<PmixEvent> heard = new LinkedBlockingQueue<>();
            client.requestEvents(Set.of(PmixStatus.LOST_CONNECTION), heard::add);
            server.peers.peek().send(Header.EVENT, HostileServerTest.event(10));
            heard.take();
            assertEquals(0, told.size());
            wish.close();
        }
    }

    @Test
    void whatCWouldOverwriteMemoryWithIsNotPut() throws Exception {
        try (ScriptedServer server = new ScriptedServer(ScriptedServer::captured);
                PmixClient client = connect(server)) {
            PmixValue nested = new PmixValue(new Value(DataType.KVAL, new Kval("a", Value.of("b"))));
            assertThrows(IllegalArgumentException.class, () -> client.put(PmixScope.GLOBAL, "key", nested));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> client.put(PmixScope.GLOBAL, "k".repeat(512), PmixValue.of(1)));
            assertThrows(
                    IllegalArgumentException.class, () -> client.put(PmixScope.GLOBAL, "pmix.key", PmixValue.of(1)));
            client.commit();
            assertEquals(1, server.requests.size());
        }
    }

    @Test
    void noMoreCallsWaitThanAllowed() throws Exception {
        PmixOptions two = new PmixOptions(PATIENCE, 1 << 20, 2, PmixOptions.DEFAULT.limits());
        try (ScriptedServer server = new ScriptedServer((request, peer) -> {
                    if (request.command() != 3) {
                        ScriptedServer.captured(request, peer);
                    }
                });
                PmixClient client = PmixClient.connect(server.environment(), two)) {
            assertThrows(PmixTimeoutException.class, () -> client.fence(false, AT_ONCE));
            assertThrows(PmixTimeoutException.class, () -> client.fence(Set.of(client.procOf(0)), false, AT_ONCE));
            PmixException full = assertThrows(PmixException.class, () -> client.get(client.procOf(1), "lab.str"));
            assertEquals(PmixStatus.OUT_OF_RESOURCE, full.status(), full::getMessage);
        } catch (IOException closing) {
            throw new AssertionError(closing);
        }
    }
}
