// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Fence;
import io.bulla.registration.PinBudget;
import io.bulla.registration.RegistrationUse;
import io.bulla.registration.Registrations;
import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.Send;
import io.bulla.testkit.HostileRegistrar;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.crac.CheckpointException;
import org.crac.Context;
import org.crac.Core;
import org.crac.Resource;
import org.crac.RestoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The hooks, as CRaC calls them.
class CracAdapterTest {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int SENDS = 200;

    private final Context<Resource> context = Core.getGlobalContext();
    private Set<String> before;
    private Pair pair;

    @BeforeEach
    void nodes() throws IOException {
        // the first selector opens what the JDK keeps
        Selector.open().close();
        before = Descriptors.areShown() ? Descriptors.open() : Set.of();
        pair = new Pair(LONG);
    }

    @AfterEach
    void nothingIsLeft() {
        pair.close();
    }

    private CracAdapter adapter(StandstillOptions options) {
        return new CracAdapter(Standstill.of(options, pair.all()));
    }

    private void noDescriptorOfTheNodesIsOpen() throws IOException {
        if (Descriptors.areShown()) {
            Set<String> open = Descriptors.open();
            open.removeAll(before);
            assertEquals(Set.of(), open);
        }
    }

    @Test
    void nothingIsOpenBetweenTheHooksAndEverySendCompletesOnce() throws Exception {
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT);
        for (int round = 0; round < 5; round++) {
            pair.sendBothWays(SENDS);
            adapter.beforeCheckpoint(context);
            noDescriptorOfTheNodesIsOpen();
            pair.sendBothWays(SENDS);
            noDescriptorOfTheNodesIsOpen();
            adapter.afterRestore(context);
            pair.allArriveOnce();
        }
    }

    @Test
    void timeBetweenTheHooksIsNotJudged() throws Exception {
        pair.close();
        pair = new Pair(Duration.ofSeconds(10));
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT);
        pair.sendBothWays(SENDS);
        adapter.beforeCheckpoint(context);
        Thread.sleep(10_500);
        pair.sendBothWays(SENDS);
        adapter.afterRestore(context);
        pair.allArriveOnce();
    }

    @Test
    void otherAddressesArePublished() throws Exception {
        InetSocketAddress first = pair.addresses.get(0);
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT
                .bind(node -> new InetSocketAddress(node.address().getAddress(), 0))
                .publish((node, address) -> pair.addresses.put(node.rank(), address)));
        pair.sendBothWays(SENDS);
        adapter.beforeCheckpoint(context);
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(first);
            adapter.afterRestore(context);
            assertNotEquals(first, pair.addresses.get(0));
            assertEquals(pair.nodes.get(0).address(), pair.addresses.get(0));
            pair.sendBothWays(SENDS);
            pair.allArriveOnce();
        }
    }

    @Test
    void nodeThatCannotGoOnIsClosedAndNamed() throws Exception {
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT);
        adapter.beforeCheckpoint(context);
        InetSocketAddress address = pair.nodes.get(1).address();
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(address);
            Send send = pair.send(1, 100);
            RestoreException failed = assertThrows(RestoreException.class, () -> adapter.afterRestore(context));
            assertEquals(
                    "node cannot go on, and is closed: rank=1 reason=cannot listen on 127.0.0.1:" + address.getPort()
                            + ": Address already in use",
                    failed.getMessage());
            assertInstanceOf(StandstillException.class, failed.getSuppressed()[0]);
            assertInstanceOf(PeerFailedException.class, failure(send));
            // the other one goes on
            assertEquals(
                    "node is not suspended: rank=0",
                    failureOf(pair.nodes.get(0).resume(pair.addresses.get(0))).getMessage());
        }
    }

    private static Throwable failure(Send send) {
        return assertThrows(ExecutionException.class, () -> send.get(10, TimeUnit.SECONDS))
                .getCause();
    }

    private static Throwable failureOf(CompletionStage<?> stage) {
        return assertThrows(
                        ExecutionException.class,
                        () -> stage.toCompletableFuture().get(10, TimeUnit.SECONDS))
                .getCause();
    }

    @Test
    void addressThatIsNotPublishedIsNamedAndTheNodesGoOn() throws Exception {
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT.publish((node, address) -> {
            if (node.rank() == 0) {
                throw new IllegalStateException("no directory");
            }
        }));
        pair.sendBothWays(SENDS);
        adapter.beforeCheckpoint(context);
        RestoreException failed = assertThrows(RestoreException.class, () -> adapter.afterRestore(context));
        assertEquals(
                "address of a node is not published: rank=0 address=" + pair.addresses.get(0) + " reason=no directory",
                failed.getMessage());
        pair.allArriveOnce();
    }

    @Test
    void nodeThatWasClosedStopsTheCheckpointAndNotTheOtherNode() throws Exception {
        pair.nodes.get(1).close();
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT);
        CheckpointException failed = assertThrows(CheckpointException.class, () -> adapter.beforeCheckpoint(context));
        assertTrue(
                failed.getMessage()
                        .startsWith("process cannot stand still: nodes=[0, 1] reason=node is closed: rank=1"),
                failed.getMessage());
        // CRaC calls it all the same
        adapter.afterRestore(context);
        assertEquals(
                "node is not suspended: rank=0",
                failureOf(pair.nodes.get(0).resume(pair.addresses.get(0))).getMessage());
    }

    @Test
    void markInUseStopsTheCheckpointAndTheNodesGoOn() throws Exception {
        try (SlabSource memory = SlabSource.builder().build();
                Registrations registrations =
                        Registrations.of(new HostileRegistrar(8, true, Fence.COMPLETION), new PinBudget(1L << 30));
                BufferBuilder builder = BufferBuilder.ofCapacity(memory, 100);
                SealedBuffer buffer = builder.put(new byte[100]).seal()) {
            CracAdapter adapter = adapter(
                    StandstillOptions.DEFAULT.retire(registrations::quiesce).patience(Duration.ofSeconds(10)));
            pair.sendBothWays(SENDS);
            try (RegistrationUse use = registrations.use(buffer, 0)) {
                assertNotNull(use);
                StandstillOptions impatient =
                        StandstillOptions.DEFAULT.retire(patience -> registrations.quiesce(Duration.ofMillis(1)));
                CheckpointException failed = assertThrows(
                        CheckpointException.class, () -> adapter(impatient).beforeCheckpoint(context));
                assertTrue(failed.getMessage().contains("device still knows memory"), failed.getMessage());
            }
            pair.allArriveOnce();
            adapter.beforeCheckpoint(context);
            assertEquals(0, registrations.figures().marks());
            adapter.afterRestore(context);
            try (RegistrationUse again = registrations.use(buffer, 0)) {
                assertNotNull(again);
            }
            assertEquals(2, registrations.figures().registered());
        }
    }

    /// Of a program whose words fail, too, as in a full heap.
    private static final class Wordless extends RuntimeException {

        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new OutOfMemoryError("words");
        }
    }

    @Test
    void failureThatHasNoWordsStopsTheCheckpointAndTheNodesGoOn() throws Exception {
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT.retire(patience -> {
            throw new Wordless();
        }));
        pair.sendBothWays(SENDS);
        assertEquals(
                "process cannot stand still: nodes=[0, 1] reason=" + Wordless.class.getName(),
                refusal(() -> adapter.beforeCheckpoint(context)));
        pair.allArriveOnce();
    }

    @Test
    void nodeWhoseFailureHasNoWordsDoesNotKeepTheOtherOne() throws Exception {
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT.publish((node, address) -> {
            throw new Wordless();
        }));
        adapter.beforeCheckpoint(context);
        String rest = " reason=" + Wordless.class.getName();
        assertEquals(
                "address of a node is not published: rank=0 address=" + pair.addresses.get(0) + rest
                        + "; address of a node is not published: rank=1 address=" + pair.addresses.get(1) + rest,
                refusal(() -> adapter.afterRestore(context)));
    }

    private interface Hook {
        void run() throws Exception;
    }

    /// Errors among them, which JUnit would take for its own.
    private static String refusal(Hook hook) {
        try {
            hook.run();
            return "none";
        } catch (CheckpointException | RestoreException refused) {
            return refused.getMessage();
        } catch (Throwable other) {
            return other.getClass().getName();
        }
    }

    @Test
    void hooksOutOfTurnAreHarmless() throws Exception {
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT);
        adapter.afterRestore(context);
        pair.sendBothWays(SENDS);
        adapter.beforeCheckpoint(context);
        adapter.beforeCheckpoint(context);
        adapter.afterRestore(context);
        adapter.afterRestore(context);
        pair.allArriveOnce();
    }

    @Test
    void interruptedThreadLeavesNoNodeHalfWay() throws Exception {
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT);
        pair.sendBothWays(SENDS);
        Thread.currentThread().interrupt();
        adapter.beforeCheckpoint(context);
        assertTrue(Thread.interrupted());
        noDescriptorOfTheNodesIsOpen();
        Thread.currentThread().interrupt();
        adapter.afterRestore(context);
        assertTrue(Thread.interrupted());
        pair.allArriveOnce();
    }

    @Test
    void plainJdkHasNoCheckpointAndTheNodesGoOn() throws Exception {
        CracAdapter adapter = adapter(StandstillOptions.DEFAULT);
        Core.getGlobalContext().register(adapter);
        pair.sendBothWays(SENDS);
        assertThrows(UnsupportedOperationException.class, Core::checkpointRestore);
        pair.allArriveOnce();
    }
}
