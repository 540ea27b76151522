// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.cli.checkpoint.NodeCheckpoints;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/// A node of a launcher's job that verifies what is broadcast, until rank 0 says that this was all.
final class PmixReceiver {

    private final PmixJob job;
    private final Meters meters;
    private final TreeOptions tree;
    private final NodeCheckpoints checkpoints;
    private final Consumer<String> out;
    private final CompletableFuture<Void> over = new CompletableFuture<>();

    /// @param out told in a line what happens
    PmixReceiver(PmixJob job, Meters meters, TreeOptions tree, NodeCheckpoints checkpoints, Consumer<String> out) {
        this.job = job;
        this.meters = meters;
        this.tree = tree;
        this.checkpoints = checkpoints;
        this.out = out;
    }

    /// Receives until it is over.
    ///
    /// @throws IOException if rank 0 has failed, or the launcher has gone
    void run() throws IOException, InterruptedException {
        NodeParts parts = tree.parts(meters, tree.send.policy(meters));
        OobNodeBuilder builder =
                parts.node(job.rank(), job.size(), job.security()).onPeerLost((peer, cause) -> lost(peer, cause));
        OobNode node = job.start(checkpoints.into(builder), tree.peerTimeout);
        Recipient recipient = Recipient.of(node, meters, null, this::saw);
        recipient.onEnd(() -> over.complete(null));
        job.onLost(() -> over.completeExceptionally(new IOException("the launcher has gone: rank=" + job.rank())));
        Thread hook = new Thread(job::hurry, "bulla-pmix-end");
        Runtime.getRuntime().addShutdownHook(hook);
        out.accept("listening=" + node.address().getAddress().getHostAddress() + ":"
                + node.address().getPort() + " security=" + job.security().name() + " " + job.describe());
        try {
            checkpoints.begin(node);
            over.get();
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof IOException known ? known : new IOException(failure.getCause());
        } finally {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException itRuns) {
                // it ends the same things
            }
            checkpoints.close();
            job.leave();
        }
    }

    private void lost(int peer, IOException cause) {
        out.accept(cause.getMessage());
        if (peer == 0 && job.rank() != 0) {
            over.completeExceptionally(cause);
        }
    }

    private void saw(Message message, String trouble) {
        out.accept("origin=" + message.origin() + " bytes=" + message.buffer().byteSize() + " "
                + (trouble == null ? "verified" : "not as sent: " + trouble));
        if (trouble != null) {
            over.completeExceptionally(new IOException(trouble));
        }
    }
}
