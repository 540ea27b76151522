// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.cli.shell.NodeTags;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/// A node that is asked for counts again and again.
class RecipientTest {

    private static final int ASKS = 200;

    private final Map<Integer, SocketAddress> addresses = new ConcurrentHashMap<>();
    private final BlockingQueue<ControlMessage.Counts> counts = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> ticks = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> ends = new LinkedBlockingQueue<>();
    /// What answering threads would do.
    private final BlockingQueue<Runnable> answering = new LinkedBlockingQueue<>();

    private final ArenaSource source = ArenaSource.create();
    private Meters meters;
    private OobNode asker;
    private Recipient recipient;

    @BeforeEach
    void start() throws IOException {
        XcastCommand options = new XcastCommand();
        new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true).parseArgs("--nodes=1", "no file");
        meters = options.tree.meters();
        asker = node(0, source)
                .receive(NodeTags.COUNTS, message -> counts.add(ControlMessage.Counts.of(message)))
                .receive(NodeTags.TICK, message -> ticks.add(message.origin()))
                .start();
        recipient = Recipient.of(node(1, meters.source()).start(), meters, null, (message, trouble) -> {}, task -> {
            answering.add(task);
            return Thread.ofVirtual().unstarted(() -> {});
        });
        recipient.onEnd(() -> ends.add(1));
        addresses.put(0, asker.address());
        addresses.put(1, recipient.node().address());
    }

    private OobNodeBuilder node(int rank, MemorySource memory) {
        return OobNode.builder(rank, 2)
                .memory(memory)
                .security(Security.plaintext())
                .directory(addresses::get);
    }

    @AfterEach
    void end() {
        asker.close();
        recipient.close();
        meters.close();
        source.close();
    }

    /// Until all have been handled.
    private void ask(int times) throws Exception {
        try (BufferBuilder builder = BufferBuilder.create(source);
                SealedBuffer nothing = builder.seal()) {
            for (int i = 0; i < times; i++) {
                asker.send(1, NodeTags.ASK, nothing);
            }
            asker.send(1, NodeTags.END, nothing);
        }
        assertEquals(1, ends.poll(60, TimeUnit.SECONDS));
    }

    /// All that was sent before has arrived.
    private void awaitTick() throws Exception {
        try (BufferBuilder builder = BufferBuilder.create(source);
                SealedBuffer nothing = builder.seal()) {
            recipient.node().send(0, NodeTags.TICK, nothing);
        }
        assertEquals(1, ticks.poll(60, TimeUnit.SECONDS));
    }

    @Test
    void peerThatAsksAgainAndAgainHasOneAnswerByOneThread() throws Exception {
        ask(ASKS);
        assertEquals(1, answering.size());
        answering.take().run();
        awaitTick();
        assertEquals(1, counts.size());
        ask(1);
        assertEquals(1, answering.size());
        answering.take().run();
        awaitTick();
        assertEquals(2, counts.size());
    }

    @Test
    void memoryThatIsClosedMeanwhileIsNoError() throws Exception {
        ask(1);
        recipient.close();
        meters.close();
        assertDoesNotThrow(answering.take()::run);
    }
}
