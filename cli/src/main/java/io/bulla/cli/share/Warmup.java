// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.posix.MemfdSource;
import io.bulla.interop.posix.PosixSocket;
import io.bulla.interop.posix.SharedSeal;
import java.io.IOException;

/// Does everything a few times within one process, so that no figure measures the loading of classes.
final class Warmup {

    private static final int ROUNDS = 300;
    private static final int BYTES = 4 << 10;

    private Warmup() {}

    static void run() throws IOException {
        MemfdSource source = MemfdSource.create();
        PosixSocket[] pair = PosixSocket.unixPair();
        Link one = new Link(pair[0]);
        Link other = new Link(pair[1]);
        try (ArenaSource arenas = ArenaSource.create(MemoryBudget.unlimited(), null)) {
            for (int i = 0; i < ROUNDS; i++) {
                SealedBuffer content =
                        BufferBuilder.create(source).put(new byte[BYTES]).seal();
                try (SharedSeal seal = SharedSeal.of(content, i, source)) {
                    seal.sendTo(pair[0]);
                    try (SharedSeal received = SharedSeal.receiveFrom(pair[1], BYTES);
                            SealedBuffer buffer = received.share()) {
                        Bytes.sha256(buffer);
                        one.sendLong(i);
                        one.socket().send(buffer.share());
                    }
                    other.receiveLong();
                    Region region = arenas.allocate(BYTES);
                    other.receiveInto(region.segment());
                    SealedBuffer.adopt(arenas.seal(region, BYTES), region::release)
                            .close();
                    one.send(Share.GO);
                    other.receiveByte();
                }
            }
        } finally {
            pair[0].close();
            pair[1].close();
        }
    }
}
