// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/// The nodes of one job in this process, each on a port of its own of the loopback, two event loops for all.
final class Job implements AutoCloseable {

    private static final int LOOPS = 2;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(LOOPS, NioIoHandler.newFactory());
    private final List<EventLoop> loopsOf = new ArrayList<>();
    private final List<OobNode> nodes = new ArrayList<>();

    /// What one node is, beyond where it listens and finds its peers.
    @FunctionalInterface
    interface Shape {
        void of(int rank, OobNodeBuilder node) throws IOException;
    }

    static Job start(int size, MemorySource source, Shape shape) throws IOException {
        Job job = new Job();
        for (int rank = 0; rank < size; rank++) {
            job.loopsOf.add(job.loops.next());
            OobNodeBuilder node = OobNode.builder(rank, size)
                    .memory(source)
                    .security(Security.plaintext())
                    .directory(peer -> job.nodes.get(peer).address())
                    .loops(job.loopsOf.get(rank));
            shape.of(rank, node);
            job.nodes.add(node.start());
        }
        return job;
    }

    OobNode node(int rank) {
        return nodes.get(rank);
    }

    List<OobNode> nodes() {
        return nodes;
    }

    /// Where a node's work is done that has to do with its connections.
    Thread loopOf(int rank) throws InterruptedException, ExecutionException {
        return loopsOf.get(rank).submit(Thread::currentThread).get();
    }

    static SealedBuffer message(MemorySource source, int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return BufferBuilder.ofCapacity(source, bytes).put(content).seal();
    }

    @Override
    public void close() {
        nodes.forEach(OobNode::close);
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
