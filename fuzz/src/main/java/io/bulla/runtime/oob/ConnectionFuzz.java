// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static io.bulla.fuzz.FuzzTarget.claim;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fuzz.ExactMemory;
import io.bulla.fuzz.FuzzInput;
import io.bulla.fuzz.FuzzTarget;
import io.bulla.fuzz.Heap;
import io.bulla.interop.netty.FrameReader;
import io.bulla.runtime.oob.internal.broadcast.OwnBroadcast;
import io.bulla.runtime.oob.internal.connection.Connection;
import io.bulla.runtime.oob.internal.connection.FrameDispatch;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.node.NodeLoop;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import java.util.logging.Logger;

/// All that a connection says to a node: an unknown peer, one that has said hello, or a child that confirms a
/// broadcast. Whatever it is, the node takes no more memory than was announced within its limits, gives all of it
/// back, believes nothing that cannot be, and breaks in no other way than by an [IOException].
///
/// ```
/// way   0: the message is all that is said    1: a hello first    2: a hello, then the message confirms a broadcast
/// call  where what is said is cut in two
/// ```
public final class ConnectionFuzz implements FuzzTarget {

    private static final int RANK = 1;
    private static final int PARENT = 0;
    private static final int CHILD = 2;
    private static final int NODES = 4;
    private static final int LIMIT = 1 << 14;
    private static final int TAG = 5;
    private static final int WAYS = 3;
    private static final long HOUR_NANOS = 3_600_000_000_000L;
    private static final long MOST_HEAP = 256 << 10;

    // kept here, for an unreferenced logger is forgotten with its level
    private static final Logger LOG = Logger.getLogger(OobNode.class.getName());

    private final ExactMemory memory;
    private final Settings settings;

    /// A target.
    ///
    /// @param memory where frames land
    public ConnectionFuzz(ExactMemory memory) {
        this.memory = memory;
        this.settings = OobNode.builder(RANK, NODES)
                .memory(memory)
                .security(Security.plaintext())
                .directory(peer -> null)
                .routing(new Radix(1))
                .limit(LIMIT)
                .settings();
        // each refusal would be a line
        LOG.setLevel(Level.OFF);
    }

    @Override
    public String name() {
        return "Connection";
    }

    @Override
    public void run(FuzzInput input) {
        memory.taken();
        long heap = Heap.allocated();
        Talk talk = new Talk();
        try {
            switch (input.choice(1, WAYS)) {
                case 0 -> talk.hear(input);
                case 1 -> {
                    talk.greet(PARENT);
                    talk.hear(input);
                }
                default -> talk.confirm(input);
            }
        } finally {
            talk.end();
        }
        Heap.claim(heap, MOST_HEAP);
        claim(talk.broken == null, "broken by what was said", talk.broken);
        // headers of batches, and answers, are the node's own
        long most = 4L * input.length() + Frame.MAX_BATCH + LIMIT;
        claim(memory.taken() <= most, "more memory than was announced", most);
    }

    /// A node and its only connection.
    private final class Talk {

        private final EmbeddedChannel channel = new EmbeddedChannel();
        private final NodeLoop nodeLoop;
        private Throwable broken;

        Talk() {
            channel.freezeTime();
            nodeLoop = new NodeLoop(settings, channel.eventLoop(), new NodeFailures());
            // what arrives is dropped at once, on this thread
            nodeLoop.handlerExecutor().close();
            Connection connection = new Connection(nodeLoop.context(), nodeLoop.acceptor(), channel, null, HOUR_NANOS);
            FrameReader.install(channel, memory, new FrameDispatch(nodeLoop.context(), connection));
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                    broken = cause instanceof IOException ? broken : cause;
                    context.fireExceptionCaught(cause);
                }
            });
            channel.pipeline().addLast(connection);
        }

        void greet(int rank) {
            hear(Unpooled.wrappedBuffer(WireSeeds.hello(rank, NODES)));
        }

        void hear(FuzzInput input) {
            int cut = input.choice(2, input.length() + 1);
            hear(Unpooled.wrappedBuffer(input.bytes(), FuzzInput.HEADER, cut));
            hear(Unpooled.wrappedBuffer(input.bytes(), FuzzInput.HEADER + cut, input.length() - cut));
        }

        private void hear(ByteBuf bytes) {
            if (!channel.isOpen()) {
                bytes.release();
                return;
            }
            channel.pipeline().fireChannelRead(bytes);
            channel.pipeline().fireChannelReadComplete();
            channel.runPendingTasks();
        }

        /// The node broadcasts, and its only child answers with the message.
        void confirm(FuzzInput input) {
            greet(CHILD);
            CompletableFuture<BroadcastResult> result;
            try (SealedBuffer empty = memory.sealed(MemorySegment.NULL)) {
                OwnBroadcast own = nodeLoop.ownBroadcasts().make(TAG, SendOptions.DEFAULT, empty);
                result = own.result;
                nodeLoop.broadcasts().begin(own);
            } catch (IOException noRoom) {
                throw new IllegalStateException(noRoom);
            }
            ByteBuf sent = null;
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                if (sent != null) {
                    sent.release();
                }
                sent = out;
            }
            long session = sent.getLong(sent.readerIndex() + 40);
            long number = sent.getLong(sent.readerIndex() + 48);
            sent.release();
            ByteBuf answer = Unpooled.buffer(Frame.BYTES + input.length());
            int length = input.length();
            int reached = (byte) input.choice(3, 256);
            Frame.write(
                    answer, Frame.Kind.CONFIRM, 0, reached, RANK, 0, 0, length, session, number, length, Lane.CONTROL);
            hear(answer.writeBytes(input.bytes(), FuzzInput.HEADER, length));
            if (result.isDone() && !result.isCompletedExceptionally()) {
                BroadcastResult told = result.getNow(null);
                int named = told.reached() + told.failed().size();
                claim(told.reached() >= 0 && named > 0 && named < NODES, "more nodes than there are, or none", told);
                claim(
                        told.failed().stream().allMatch(rank -> rank >= 0 && rank < NODES && rank != RANK),
                        "ranks that cannot be",
                        told);
            }
        }

        void end() {
            channel.close();
            CompletableFuture<Void> closed = nodeLoop.close(0);
            channel.runPendingTasks();
            claim(closed.isDone(), "not closed");
            channel.releaseInbound();
            channel.releaseOutbound();
        }
    }
}
