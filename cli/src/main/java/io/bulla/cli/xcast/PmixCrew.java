// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.cli.shell.NodeTags;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The other nodes of the launcher's job.
///
/// @param job joined
/// @param meters where the last word's memory comes from
/// @param peerTimeout of the root
record PmixCrew(PmixJob job, Meters meters, Duration peerTimeout) implements Crew {

    private static final long LAST_WORD_SECONDS = 10;

    @Override
    public InetSocketAddress rootBind() {
        return job.addressOf(0);
    }

    @Override
    public Security rootSecurity() {
        return job.security();
    }

    @Override
    public OobNode startRoot(OobNodeBuilder builder) throws IOException {
        return job.start(builder, peerTimeout);
    }

    @Override
    public void start(InetSocketAddress root) {
        // the launcher has
    }

    @Override
    public InetSocketAddress addressOf(int rank) {
        return job.addressOf(rank);
    }

    @Override
    public String describe() {
        return "of the launcher's job: " + job.describe();
    }

    /// Tells them that there is nothing more to come.
    @Override
    public void dismiss(OobNode root) {
        List<CompletableFuture<?>> sends = new ArrayList<>();
        try (BufferBuilder builder = BufferBuilder.create(meters.source());
                SealedBuffer nothing = builder.seal()) {
            for (int rank = 1; rank < job.size(); rank++) {
                sends.add(root.send(rank, NodeTags.END, nothing).toCompletableFuture());
            }
        }
        try {
            CompletableFuture.allOf(sends.toArray(CompletableFuture[]::new)).get(LAST_WORD_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException someHaveFailed) {
            // they need not be told
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        job.close();
    }
}
