// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.held;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.refcount.LeaseLedger;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// A program that is looked at: it holds what its tags say, until its standard input ends.
public final class HeldProgram {

    private HeldProgram() {}

    public static void main(String[] args) throws Exception {
        Map<Integer, SocketAddress> addresses = new ConcurrentHashMap<>();
        LeaseLedger ledger = LeaseLedger.full().withStacks();
        try (ArenaSource memory = ArenaSource.builder()
                        .budget(new MemoryBudget(64 << 20))
                        .trace(ledger)
                        .build();
                SlabSource pool = SlabSource.create();
                OobNode zero = node(0, memory, addresses);
                OobNode one = node(1, memory, addresses);
                BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer message = builder.putLong(1).seal("request 4711");
                SealedBuffer send = sendTo17(message);
                SealedBuffer odd = message.share("two\nlines \u001b[2J");
                BufferBuilder pooled = BufferBuilder.create(pool);
                SealedBuffer fromPool = pooled.putLong(2).seal("of the pool")) {
            addresses.put(0, zero.address());
            addresses.put(1, one.address());
            zero.send(1, 1, message).get();
            System.out.println(
                    "ready " + (message.byteSize() + send.byteSize() + odd.byteSize() + fromPool.byteSize()));
            while (System.in.read() >= 0) {}
        }
    }

    private static SealedBuffer sendTo17(SealedBuffer message) {
        return message.share("send to rank 17");
    }

    private static OobNode node(int rank, ArenaSource memory, Map<Integer, SocketAddress> addresses)
            throws IOException {
        return OobNode.builder(rank, 2)
                .memory(memory)
                .directory(addresses::get)
                .security(Security.plaintext())
                .start();
    }
}
