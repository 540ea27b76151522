// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseLedger;
import io.bulla.runtime.oob.internal.core.HolderTags;
import io.bulla.runtime.oob.security.Security;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HolderTagsTest {

    private static final int TAG = 7;

    @Test
    void ledgerSaysForWhomMemoryIsHeld() throws Exception {
        LeaseLedger ledger = LeaseLedger.full();
        CompletableFuture<List<String>> whileHandled = new CompletableFuture<>();
        try (ArenaSource memory = ArenaSource.create(MemoryBudget.unlimited(), ledger);
                ArenaSource unheard = ArenaSource.create();
                OobNode one = node(1, memory, null);
                OobNode zero = node(0, unheard, one);
                BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer message = builder.putByte((byte) 1).seal()) {
            one.receive(TAG, got -> whileHandled.complete(tags(ledger)));
            Send kept = one.send(0, TAG, message);
            assertEquals(List.of("to peer 0"), tags(ledger));
            kept.toCompletableFuture().cancel(false);
            try (BufferBuilder other = BufferBuilder.create(unheard);
                    SealedBuffer untraced = other.putByte((byte) 2).seal()) {
                zero.send(1, TAG, untraced);
                assertEquals(
                        Optional.of("from peer 0"),
                        whileHandled.get(10, TimeUnit.SECONDS).stream().findFirst());
            }
        }
    }

    @Test
    void noListenerSoNothingIsTagged() {
        try (ArenaSource memory = ArenaSource.create()) {
            assertNull(HolderTags.of(3, memory).to());
            assertNull(HolderTags.of(3, memory).from());
        }
    }

    private static List<String> tags(LeaseLedger ledger) {
        return ledger.open().stream()
                .filter(holder -> holder.tag() != null)
                .map(holder -> holder.tag().toString())
                .toList();
    }

    /// @param other where the other one listens; `null` is a node that cannot be reached
    private static OobNode node(int rank, ArenaSource memory, OobNode other) throws Exception {
        return OobNode.builder(rank, 2)
                .memory(memory)
                .security(Security.plaintext())
                .coalesceBelow(0)
                .directory(peer -> other == null ? null : other.address())
                .start();
    }
}
