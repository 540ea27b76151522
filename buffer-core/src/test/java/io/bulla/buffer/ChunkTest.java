// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// An arena and its end, without the thread that usually comes for it.
class ChunkTest {

    private static final int SIZE = 1 << 20;

    private final AtomicLong givenBack = new AtomicLong();
    // its thread never starts
    private final ArenaCloser closer = new ArenaCloser(givenBack::addAndGet, 0, thread -> {});

    private Chunk chunk() {
        closer.opening();
        return new Chunk(closer);
    }

    private void closeThoseThatWait() throws InterruptedException {
        assertTrue(closer.awaitNone(0));
    }

    @Test
    void chunkThatIsGoneTakesNoBlock() throws InterruptedException {
        Chunk chunk = chunk();
        chunk.addBlock(SIZE).retire();
        chunk.leave();
        assertEquals(
                "block for a chunk that is gone: byteSize=" + 2 * SIZE,
                assertThrows(IllegalStateException.class, () -> chunk.addBlock(SIZE))
                        .getMessage());
        closeThoseThatWait();
        assertEquals(2 * SIZE, givenBack.get());
    }

    @Test
    void chunkIsClosedOnceAndThenCountsAsClosed() {
        Chunk chunk = chunk();
        MemorySegment memory = chunk.allocate(SIZE);
        assertEquals(SIZE, chunk.byteSize());
        assertTrue(chunk.tryClose());
        assertFalse(memory.scope().isAlive());
        assertTrue(chunk.tryClose(), "closed already");
    }

    @Test
    void chunkThatASystemCallUsesIsNotClosed() throws Exception {
        Chunk chunk = chunk();
        ByteBuffer bytes = chunk.allocate(SIZE).asByteBuffer();
        Pipe pipe = Pipe.open();
        // one call: a pipe has no room for all
        Thread call = Thread.ofPlatform().start(() -> {
            try (Pipe.SinkChannel sink = pipe.sink()) {
                while (bytes.hasRemaining()) {
                    sink.write(bytes);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        ByteBuffer received = ByteBuffer.allocate(SIZE);
        pipe.source().read(received.limit(1));
        assertFalse(chunk.tryClose());
        received.limit(SIZE);
        while (received.hasRemaining() && pipe.source().read(received) >= 0) {}
        call.join();
        pipe.source().close();
        assertTrue(chunk.tryClose());
    }
}
