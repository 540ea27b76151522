// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.node.NodeLoop;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What can be seen of nodes from outside, for the report of one that does not go on.
final class NodeState {

    private NodeState() {}

    static String of(List<OobNode> nodes) {
        return nodes.stream().map(NodeState::of).collect(Collectors.joining("\n", "\n", ""));
    }

    private static String of(OobNode node) {
        NodeLoop loop = node.loop();
        return "node=" + node.rank() + " closed=" + loop.context().isClosed() + " suspended="
                + loop.context().isSuspended() + " shuttingDown="
                + loop.eventLoop().isShuttingDown() + " shutdown="
                + loop.eventLoop().isShutdown() + " terminated="
                + loop.eventLoop().isTerminated() + " "
                + loop.acceptor() + thread(loop);
    }

    /// Where the loop is, and what it has to do.
    private static String thread(NodeLoop loop) {
        if (!(loop.eventLoop() instanceof SingleThreadEventExecutor executor) || executor.isShuttingDown()) {
            return "";
        }
        return " tasks=" + executor.pendingTasks() + " loop="
                + executor.threadProperties().state()
                + Stream.of(executor.threadProperties().stackTrace())
                        .map(frame -> "\n    at " + frame)
                        .collect(Collectors.joining());
    }
}
