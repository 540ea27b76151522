// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.limits.SendQuota;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/// The bounds of what is on its way, to each peer and in all; and who waits for room.
///
/// Ordering: a waiter is in the queue before it looks once more, and room is given back before the queue is
/// looked at, so that one of the two completes it.
final class Room {

    private record Waiter(SendQuota peer, CompletableFuture<Void> stage) {}

    private final SendQuota all;
    private final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();

    Room(SendQuota all) {
        this.all = all;
    }

    SendQuota all() {
        return all;
    }

    /// @return `null`, or what is full
    String tryTake(SendQuota peer, long bytes) {
        if (!peer.tryTake(bytes)) {
            return "queue of the peer is full: " + peer;
        }
        if (!all.tryTake(bytes)) {
            peer.give(1, bytes);
            return "queues of all peers are full: " + all;
        }
        return null;
    }

    /// @return `null`, or what is full
    String isFull(SendQuota peer) {
        return peer.isFull()
                ? "queue of the peer is full: " + peer
                : all.isFull() ? "queues of all peers are full: " + all : null;
    }

    /// Beyond the bounds, for what cannot be refused.
    void take(SendQuota peer, long bytes) {
        peer.take(bytes);
        all.take(bytes);
    }

    void give(SendQuota peer, long messages, long bytes) {
        peer.give(messages, bytes);
        all.give(messages, bytes);
        if (!waiters.isEmpty()) {
            look();
        }
    }

    /// @return completes when both bounds are half empty
    CompletableFuture<Void> await(SendQuota peer) {
        CompletableFuture<Void> stage = new CompletableFuture<>();
        waiters.add(new Waiter(peer, stage));
        look();
        return stage;
    }

    /// There is no more waiting: the next send says why.
    void close() {
        for (Waiter waiter = waiters.poll(); waiter != null; waiter = waiters.poll()) {
            waiter.stage.complete(null);
        }
    }

    private void look() {
        waiters.removeIf(waiter -> {
            boolean over = waiter.stage.isDone() || all.isHalfEmpty() && waiter.peer.isHalfEmpty();
            if (over) {
                waiter.stage.complete(null);
            }
            return over;
        });
    }
}
