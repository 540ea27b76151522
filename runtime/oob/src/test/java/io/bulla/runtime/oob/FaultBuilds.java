// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.FaultySource;
import io.bulla.testkit.FaultyTrace;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.List;
import java.util.Optional;

/// A node that is built, goes on from a cut, and is closed, while what it is built with fails.
final class FaultBuilds {

    /// The rank is said when it starts.
    static final int UNKNOWN = -1;

    private FaultBuilds() {}

    @FunctionalInterface
    interface Build {
        Object of(FaultScene scene, OobNodeBuilder builder) throws Exception;
    }

    static Operation operation(Build build, int rank) {
        return scene -> {
            scene.points().everyThread();
            scene.mayTake(256 << 20);
            LeaseTally handles = new LeaseTally();
            ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
            FaultySource memory = new FaultySource(scene.points(), source, new FaultyTrace(scene.points(), handles));
            scene.ownLast(source);
            scene.owed("handles of the nodes", handles::open);
            scene.owed("regions of the nodes", memory::regionsTaken);
            NodeCut cut = cut(source);
            scene.own(cut);
            return () -> {
                OobNodeBuilder builder = (rank == UNKNOWN ? OobNode.builder() : OobNode.builder(rank, 1))
                        .memory(memory)
                        .directory(peer -> null)
                        .routing(new FaultDoubles.Shape(scene.points(), new io.bulla.runtime.oob.topology.Star()))
                        .security(new FaultDoubles.Protection(
                                scene.points(), Security.plaintext(), new FaultDoubles.Signatures(scene.points())))
                        .signatures(BroadcastSignatures.SIGN)
                        .receive(FaultWorld.TAG, message -> scene.points().reach("MessageHandler.received"))
                        .restore(cut, new CutName(1, 2));
                ServerSocketChannel socket = listening();
                boolean passed = false;
                try {
                    Object result = build.of(scene, builder.listener(socket));
                    passed = true;
                    return result;
                } finally {
                    scene.points().disarm();
                    FaultWorld.expect(!socket.isOpen(), "the port is taken still: passed=" + passed);
                }
            };
        };
    }

    private static ServerSocketChannel listening() throws IOException {
        return ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    /// With messages that had arrived, and broadcasts that had not begun.
    static NodeCut cut(ArenaSource source) {
        return new NodeCut(
                0, 1, List.of(), List.of(message(source), message(source)), List.of(message(source), message(source)));
    }

    private static Message message(ArenaSource source) {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            SealedBuffer bytes = builder.put(new byte[100]).seal();
            return new Message(0, FaultWorld.TAG, Optional.empty(), bytes);
        }
    }
}
