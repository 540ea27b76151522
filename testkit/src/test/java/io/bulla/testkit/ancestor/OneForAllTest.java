// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.ancestor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.SlowChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Bugs of Open MPI where one buffer served everybody in turn, and two came at once.
@ExtendWith(NoOpenHandles.class)
class OneForAllTest {

    /// Open MPI 760df7fcb9 (2009): one static buffer collects the answers of every allgather.
    @Nested
    class CollectivesShareOneBuffer {

        @Test
        void answersOfTwoCollectivesMix() {
            OpalBuffer allgather = new OpalBuffer();
            allgather.pack((byte) 1);
            allgather.pack((byte) 100);
            allgather.pack((byte) 2);
            assertArrayEquals(
                    new byte[] {1, 100, 2}, Arrays.copyOf(allgather.unload().block().bytes, 3));
        }

        @Test
        void everyCollectiveHasAResultOfItsOwn() throws InterruptedException {
            try (ArenaSource source = ArenaSource.create()) {
                BufferBuilder one = BufferBuilder.create(source);
                BufferBuilder other = BufferBuilder.create(source);
                for (int answer = 0; answer < 50; answer++) {
                    one.put(Bytes.numbered(answer, 30));
                    other.put(Bytes.numbered(answer + 50, 70));
                }
                try (SealedBuffer first = one.seal();
                        SealedBuffer second = other.seal()) {
                    for (int answer = 0; answer < 50; answer++) {
                        assertArrayEquals(
                                Bytes.numbered(answer, 30),
                                Bytes.of(first.iovec().slice(answer * 30, 30)));
                        assertArrayEquals(
                                Bytes.numbered(answer + 50, 70),
                                Bytes.of(second.iovec().slice(answer * 70, 70)));
                    }
                }
                assertThrows(IllegalStateException.class, () -> one.putInt(1), "the next round takes another builder");
                source.close(Duration.ofSeconds(60));
            }
        }
    }

    /// Open MPI 5e6928d710 (2008): a message that arrives while another is handled frees its bytes.
    @Nested
    class NestedDeliveryFreesTheOuterOne {

        private static final byte[] OUTER = Bytes.numbered(1, 200);
        private static final byte[] INNER = Bytes.numbered(60, 200);

        @Test
        void loadOfTheNextMessageFreesTheOneBeingRead() {
            class Receiver {
                private CHeap.Pointer message;

                byte[] deliver(byte[] payload, Runnable handler) {
                    if (message != null) {
                        CHeap.free(message);
                    }
                    message = CHeap.malloc(payload);
                    CHeap.Pointer mine = message;
                    handler.run();
                    return mine.read(payload.length);
                }
            }
            Receiver receiver = new Receiver();
            byte[] outer = receiver.deliver(OUTER, () -> receiver.deliver(INNER, () -> {}));
            assertArrayEquals(CHeap.poison(OUTER.length), outer);
        }

        @Test
        void everyMessageIsABufferOfItsOwn(MemorySource source) throws IOException {
            Deque<byte[]> arriving = new ArrayDeque<>();
            arriving.add(OUTER);
            arriving.add(INNER);
            receive(source, arriving);
            assertEquals(0, arriving.size());
        }

        private static void receive(MemorySource source, Deque<byte[]> arriving) throws IOException {
            byte[] expected = arriving.remove();
            try (BufferBuilder landing = BufferBuilder.create(source);
                    SealedBuffer message = landing.readFully(new SlowChannel(expected, 64), expected.length)
                            .seal()) {
                if (!arriving.isEmpty()) {
                    receive(source, arriving);
                }
                assertArrayEquals(expected, Bytes.of(message));
            }
        }
    }
}
