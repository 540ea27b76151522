// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.SealedBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What is known of a tag goes with the last who asks for it and the last message of it.
class HandlersTest {

    private final Cluster cluster = new Cluster();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    private static int tags(OobNode node) {
        return node.loop().handlers().tags();
    }

    @Test
    void tagThatNobodyAsksForIsForgotten() throws Exception {
        cluster.start(1);
        OobNode node = cluster.node(0);
        int before = tags(node);
        for (int tag = 1000; tag < 2000; tag++) {
            node.receive(tag, message -> {});
            node.stopReceiving(tag);
        }
        Cluster.await("handlers", () -> tags(node) == before);
        for (int tag = 2000; tag < 2100; tag++) {
            Cluster.delivered(cluster.send(0, 0, tag, tag, 100, SendOptions.DEFAULT));
        }
        Cluster.await("100 messages are kept", () -> tags(node) == before + 100);
        for (int tag = 2000; tag < 2100; tag++) {
            try (SealedBuffer kept = node.receiveOnce(tag)
                    .toCompletableFuture()
                    .get(10, TimeUnit.SECONDS)
                    .buffer()) {
                assertEquals(tag, Cluster.number(kept));
            }
        }
        Cluster.await("taken", () -> tags(node) == before);
        for (int tag = 3000; tag < 3100; tag++) {
            CompletableFuture<Message> waits = node.receiveOnce(tag).toCompletableFuture();
            assertEquals(before + 1, tags(node));
            Cluster.delivered(cluster.send(0, 0, tag, tag, 100, SendOptions.DEFAULT));
            waits.get(10, TimeUnit.SECONDS).buffer().close();
            Cluster.await("received once", () -> tags(node) == before);
        }
    }
}
