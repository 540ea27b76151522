// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.topology.DnsDirectory;
import io.bulla.runtime.oob.topology.PeerDirectory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Names that differ in the rank, and resolvers that answer late, differently, wrongly or never.
class DnsDirectoryTest {

    private static final String PATTERN = "bulla-{rank}.bulla:7000";

    private final Cluster cluster = new Cluster();
    private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    private final CountDownLatch never = new CountDownLatch(1);

    @AfterEach
    void nothingIsLeft() {
        never.countDown();
        cluster.close();
    }

    private static List<SocketAddress> answer(CompletionStage<List<SocketAddress>> stage) throws Exception {
        return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private static IOException failure(CompletionStage<List<SocketAddress>> stage) {
        return assertInstanceOf(
                IOException.class,
                assertThrows(ExecutionException.class, () -> answer(stage)).getCause());
    }

    private static IOException failure(DnsDirectory.Resolver resolver) {
        return failure(DnsDirectory.of(PATTERN).resolvedBy(resolver).lookUp(3));
    }

    private static InetAddress address(int last) {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
        } catch (UnknownHostException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private List<InetAddress> blocks(String name) throws IOException {
        asked.add(name);
        try {
            never.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
        throw new UnknownHostException(name);
    }

    @Test
    void patternMakesANameOfARank() {
        DnsDirectory directory = DnsDirectory.of(PATTERN);
        assertEquals("bulla-0.bulla", directory.nameOf(0));
        assertEquals("bulla-2147483647.bulla", directory.nameOf(Integer.MAX_VALUE));
        assertEquals(7000, directory.port());
        assertEquals(PATTERN, directory.toString());
        assertEquals(
                "a3.b.svc.cluster.local.",
                DnsDirectory.of("a{rank}.b.svc.cluster.local.:1").nameOf(3));
        assertEquals("10.0.0.17", DnsDirectory.of("10.0.0.1{rank}:65535").nameOf(7));
        IllegalArgumentException negative = assertThrows(IllegalArgumentException.class, () -> directory.lookUp(-1));
        assertEquals("rank is negative: rank=-1", negative.getMessage());
    }

    @ParameterizedTest
    @CsvSource(
            ignoreLeadingAndTrailingWhitespace = false,
            delimiter = '|',
            value = {
                "''|pattern has no {rank}",
                "bulla:7000|pattern has no {rank}",
                "bulla-{Rank}:7000|pattern has no {rank}",
                "{rank}{rank}.bulla:7000|pattern has {rank} more than once",
                "bulla-{rank}:{rank}|pattern has {rank} more than once",
                "bulla-{rank}.bulla|pattern has no port, as in bulla-{rank}.bulla:7000",
                "bulla-{rank}.bulla:|port is not 1 to 65535",
                "bulla-{rank}.bulla:0|port is not 1 to 65535",
                "bulla-{rank}.bulla:-7000|port is not 1 to 65535",
                "bulla-{rank}.bulla:+7000|port is not 1 to 65535",
                "bulla-{rank}.bulla:65536|port is not 1 to 65535",
                "bulla-{rank}.bulla:4294974296|port is not 1 to 65535",
                "bulla-{rank}.bulla:7000 |port is not 1 to 65535",
                "bulla-{rank}.bulla:\u0667000|port is not 1 to 65535",
                "bulla:70{rank}|port is not 1 to 65535",
                " bulla-{rank}:7000|not a host name",
                "bulla {rank}:7000|not a host name",
                "bulla-{rank}.{host}:7000|not a host name",
                "bulla-{rank}..bulla:7000|not a host name",
                ".{rank}:7000|not a host name",
                "bulla:{rank}:7000|not a host name",
                "[fd00::{rank}]:7000|not a host name",
                "http://bulla-{rank}:7000|not a host name",
                "{rank}:7000|not a host name",
                "10.{rank}:7000|not a host name",
            })
    void patternThatIsNoneIsNamed(String pattern, String wrong) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> DnsDirectory.of(pattern));
        assertEquals(wrong + ": pattern=" + pattern, refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 244})
    void labelsAndNamesHaveALimit(int letters) {
        String name = letters == 64 ? "a".repeat(64) + ".{rank}" : "a.".repeat(letters / 2) + "{rank}";
        assertThrows(IllegalArgumentException.class, () -> DnsDirectory.of(name + ":7000"));
        DnsDirectory.of(name.substring(2) + ":7000");
    }

    @Test
    void messageStaysInOneLine() {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> DnsDirectory.of("a\r\n{rank}:7000"));
        assertEquals("not a host name: pattern=a??{rank}:7000", refused.getMessage());
    }

    @Test
    void jdkResolvesWhereNoResolverIsGiven() throws Exception {
        DnsDirectory directory = DnsDirectory.of("127.0.0.1{rank}:7000");
        assertEquals(List.of(new InetSocketAddress(address(13), 7000)), answer(directory.lookUp(3)));
        // the JDK knows that it is none, and asks no name server
        IOException unknown = failure(DnsDirectory.of("0x7f.0.0.{rank}:7000").lookUp(3));
        String start = "unknown name: name=0x7f.0.0.3 rank=3 reason=java.net.UnknownHostException";
        assertTrue(unknown.getMessage().startsWith(start), unknown.getMessage());
    }

    @Test
    void addressesKeepTheirOrderAndEachQuestionAsksAgain() throws Exception {
        BlockingQueue<List<InetAddress>> answers =
                new LinkedBlockingQueue<>(List.of(List.of(address(3), address(1), address(2)), List.of(address(9))));
        DnsDirectory directory = DnsDirectory.of(PATTERN).resolvedBy(name -> {
            asked.add(name);
            return answers.remove();
        });
        assertEquals(
                List.of(
                        new InetSocketAddress(address(3), 7000),
                        new InetSocketAddress(address(1), 7000),
                        new InetSocketAddress(address(2), 7000)),
                answer(directory.lookUp(5)));
        assertEquals(List.of(new InetSocketAddress(address(9), 7000)), answer(directory.lookUp(5)));
        assertEquals(List.of("bulla-5.bulla", "bulla-5.bulla"), List.copyOf(asked));
        assertThrows(UnsupportedOperationException.class, () -> directory.addressOf(5));
        assertThrows(UnsupportedOperationException.class, () -> directory.addressesOf(5));
    }

    @Test
    void ofAThousandAddressesTheFirstAreTaken() throws Exception {
        List<InetAddress> thousand = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            thousand.add(address(i % 200 + 1));
        }
        List<SocketAddress> taken =
                answer(DnsDirectory.of(PATTERN).resolvedBy(name -> thousand).lookUp(0));
        assertEquals(64, taken.size());
        assertEquals(new InetSocketAddress(address(64), 7000), taken.getLast());
        List<InetAddress> endless = new AbstractList<>() {
            @Override
            public InetAddress get(int index) {
                return address(1);
            }

            @Override
            public int size() {
                return Integer.MAX_VALUE;
            }
        };
        assertEquals(
                64,
                answer(DnsDirectory.of(PATTERN).resolvedBy(name -> endless).lookUp(0))
                        .size());
    }

    @Test
    void failureNamesNameAndRank() {
        UnknownHostException unknown = new UnknownHostException("not here");
        IOException failed = failure(name -> {
            throw unknown;
        });
        assertEquals("unknown name: name=bulla-3.bulla rank=3 reason=" + unknown, failed.getMessage());
        assertSame(unknown, failed.getCause());
        assertEquals(
                "unknown name: name=bulla-3.bulla rank=3 reason=java.net.UnknownHostException: no address",
                failure(name -> List.of()).getMessage());
        Error error = new NoClassDefFoundError("on purpose");
        failed = failure(name -> {
            throw error;
        });
        assertEquals("cannot look a name up: name=bulla-3.bulla rank=3 reason=" + error, failed.getMessage());
        assertSame(error, failed.getCause());
        assertTrue(failure(name -> null).getMessage().endsWith("resolver returned no list"));
        assertTrue(failure(name -> Collections.singletonList(null))
                .getMessage()
                .endsWith("resolver answered a null address"));
        assertTrue(failure(name -> Arrays.asList(address(1), null))
                .getMessage()
                .endsWith("resolver answered a null address"));
    }

    @Test
    void executorIsAskedAndMayRefuse() throws Exception {
        BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        DnsDirectory directory =
                DnsDirectory.of(PATTERN).resolvedBy(name -> List.of(address(1))).askedOn(tasks::add);
        CompletableFuture<List<SocketAddress>> question = directory.lookUp(3).toCompletableFuture();
        assertFalse(question.isDone());
        tasks.remove().run();
        assertTrue(question.isDone());
        RejectedExecutionException refusal = new RejectedExecutionException("full");
        IOException refused = failure(directory
                .askedOn(task -> {
                    throw refusal;
                })
                .lookUp(3));
        assertEquals("cannot ask for a name: name=bulla-3.bulla rank=3 reason=" + refusal, refused.getMessage());
        assertEquals(1, answer(directory.askedOn(Runnable::run).lookUp(3)).size());
    }

    @Test
    // a caller that asks by itself would wait for ever
    @Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
    void resolverThatNeverAnswersIsAskedOnceForEachRank() throws Exception {
        DnsDirectory directory = DnsDirectory.of(PATTERN).resolvedBy(this::blocks);
        CompletionStage<List<SocketAddress>> first = directory.lookUp(0);
        CompletionStage<List<SocketAddress>> second = directory.lookUp(0);
        assertNotSame(first, second);
        // one that gives up takes the answer from no other
        first.toCompletableFuture().cancel(false);
        assertFalse(second.toCompletableFuture().isDone());
        List<CompletionStage<List<SocketAddress>>> rest = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            rest.add(directory.lookUp(0));
        }
        assertEquals(
                "too many wait for a name: name=bulla-0.bulla rank=0 most=1024",
                failure(rest.getLast()).getMessage());
        long open = rest.stream()
                .filter(stage -> !stage.toCompletableFuture().isDone())
                .count();
        assertEquals(1024 - 2, open);
        directory.lookUp(1);
        assertTrue(List.of("bulla-0.bulla", "bulla-1.bulla").contains(asked.poll(10, TimeUnit.SECONDS)));
        assertTrue(List.of("bulla-0.bulla", "bulla-1.bulla").contains(asked.poll(10, TimeUnit.SECONDS)));
        never.countDown();
        assertTrue(failure(second).getMessage().startsWith("unknown name: name=bulla-0.bulla rank=0 "));
        assertNull(asked.poll());
        // the question is over: the next one asks
        failure(directory.lookUp(0));
        assertEquals("bulla-0.bulla", asked.poll(10, TimeUnit.SECONDS));
    }

    /// Nodes 1 and 2, which look for no peer.
    ///
    /// @return the port of node 1, at 127.0.0.1 alone
    private int startOthers() throws IOException {
        cluster.directory = peer -> null;
        cluster.nodes.add(null);
        cluster.add(1, 3, setup -> setup);
        cluster.add(2, 3, setup -> setup);
        return cluster.address(1).getPort();
    }

    private OobNode startAsking(DnsDirectory directory) throws IOException {
        return cluster.replace(
                0,
                3,
                setup -> setup.peerTimeout(Duration.ofMinutes(10))
                        .helloDeadline(Duration.ofMinutes(10))
                        .directory(PeerDirectory.late(rank -> rank == 2
                                ? CompletableFuture.completedFuture(List.of(cluster.address(2)))
                                : directory.lookUp(rank))));
    }

    @Test
    void nodesMeetOnceTheNameIsKnownAndHasChanged() throws Exception {
        int port = startOthers();
        BlockingQueue<List<InetAddress>> answers = new LinkedBlockingQueue<>();
        // not known, then with an old address, then with two, of which the second is the right one
        answers.add(List.of());
        answers.add(List.of(address(77)));
        answers.add(List.of(address(78), InetAddress.getLoopbackAddress()));
        startAsking(DnsDirectory.of("bulla-{rank}.bulla:" + port).resolvedBy(name -> {
            asked.add(name);
            return answers.remove();
        }));
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        assertEquals(List.of("bulla-1.bulla", "bulla-1.bulla", "bulla-1.bulla"), List.copyOf(asked));
        assertEquals("1 from 0: 1", cluster.next());
        assertNull(cluster.lost.poll());
    }

    @Test
    void resolverThatBlocksHoldsUpNoOtherPeer() throws Exception {
        startOthers();
        startAsking(DnsDirectory.of(PATTERN).resolvedBy(this::blocks));
        Send waits = cluster.send(0, 1, 1, 100);
        assertEquals("bulla-1.bulla", asked.poll(10, TimeUnit.SECONDS));
        Cluster.delivered(cluster.send(0, 2, 2, 100));
        assertFalse(waits.toCompletableFuture().isDone());
    }

    @Test
    void verdictNamesTheNameThatIsNotKnown() throws Exception {
        startOthers();
        OobNode node = startAsking(DnsDirectory.of(PATTERN).resolvedBy(name -> List.of()));
        Send send = cluster.send(0, 1, 1, 100);
        node.suspect(1, "said so");
        String why = Cluster.failure(send).getMessage();
        assertTrue(why.startsWith("peer 1 failed: said so last=unknown name: name=bulla-1.bulla rank=1 "), why);
    }
}
