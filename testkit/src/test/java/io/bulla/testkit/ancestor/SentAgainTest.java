// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.ancestor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.SlowChannel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Bugs of Open MPI where one send, or one reader, changed what another one was still using.
@ExtendWith(NoOpenHandles.class)
class SentAgainTest {

    private static final byte[] MESSAGE = Bytes.numbered(3, 300);

    /// Open MPI 76426285f0 (2013): the tree-launch command is sent to children while the daemon reads it.
    @Nested
    class SendRestartsTheReader {

        @Test
        void loadPutsTheReadPositionOfTheSharedBufferBack() {
            record Opal(byte[] bytes, int[] unpackAt) {
                byte unpack() {
                    return bytes[unpackAt[0]++];
                }

                void send() {
                    unpackAt[0] = 0;
                }
            }
            Opal command = new Opal(new byte[] {10, 20, 30}, new int[1]);
            assertEquals(10, command.unpack());
            command.send();
            assertEquals(10, command.unpack(), "the daemon reads the first item twice");
        }

        @Test
        void sendLeavesEveryReaderWhereItIs(MemorySource source) {
            List<SealedBuffer> queued = new ArrayList<>();
            try (BufferBuilder builder = BufferBuilder.create(source)) {
                Packer.into(builder, WireFormat.OPAL_DSS)
                        .packInt32(10)
                        .packInt32(20)
                        .packInt32(30);
                try (SealedBuffer command = builder.seal()) {
                    Unpacker daemon = Unpacker.of(command, WireFormat.OPAL_DSS);
                    for (int item = 10; item <= 30; item += 10) {
                        assertEquals(item, daemon.unpackInt32());
                        queued.add(command.share());
                    }
                    assertEquals(0, daemon.remaining());
                }
            }
            for (SealedBuffer child : queued) {
                try (child) {
                    assertEquals(10, Unpacker.of(child, WireFormat.OPAL_DSS).unpackInt32());
                }
            }
        }
    }

    /// Open MPI dcff523244 (2009): the retained relay buffer is changed while it waits for sockets.
    @Nested
    class RelayChangesWhileQueued {

        @Test
        void packMovesTheBlockThatTheQueueHasTheAddressOf() {
            OpalBuffer relay = new OpalBuffer();
            relay.pack(MESSAGE);
            OpalBuffer.Unloaded queued = relay.unload();
            relay.load(queued);
            relay.pack((byte) 1);
            assertArrayEquals(CHeap.poison(MESSAGE.length), Arrays.copyOf(queued.block().bytes, MESSAGE.length));
        }

        @Test
        void relayThatAddsToAMessageMakesAnotherOne(MemorySource source) {
            try (SealedBuffer relay = Bytes.seal(source, MESSAGE);
                    SealedBuffer queued = relay.share();
                    SealedBuffer trailer = Bytes.seal(source, (byte) 1);
                    SealedBuffer longer = SealedBuffer.concat(relay, trailer)) {
                assertEquals(MESSAGE.length + 1, longer.byteSize());
                assertArrayEquals(MESSAGE, Bytes.of(queued));
                assertEquals(
                        queued.iovec().region(0).address(),
                        longer.iovec().region(0).address());
            }
        }
    }

    /// Open MPI c3ec2e2614 (2011): one static iovec array is filled again while it is being sent.
    @Nested
    class IovecArrayIsRewritten {

        private final List<Supplier<byte[]>> queue = new ArrayList<>();

        @Test
        void staticArraySendsTheSecondMessageTwice() {
            byte[][] iovec = new byte[1][];
            for (byte[] message : List.of(MESSAGE, Bytes.numbered(50, 300))) {
                iovec[0] = message;
                queue.add(() -> iovec[0]);
            }
            assertArrayEquals(Bytes.numbered(50, 300), queue.getFirst().get());
        }

        @Test
        void everySendHasAnArrayOfItsOwn(MemorySource source) {
            try (SealedBuffer shared = Bytes.seal(source, MESSAGE)) {
                ByteBuffer[] first = shared.iovec().asByteBuffers();
                ByteBuffer[] second = shared.iovec().asByteBuffers();
                assertNotSame(first, second);
                second[0].position(100);
                second[0] = null;
                byte[] sent = new byte[first[0].remaining()];
                first[0].get(sent);
                assertArrayEquals(MESSAGE, sent);
            }
        }

        @Test
        void arraysThatWereHandedInMayBeReused(MemorySource source) {
            MemorySegment[] regions = {MemorySegment.ofArray(new byte[] {1}), MemorySegment.ofArray(new byte[] {2})};
            IoVec vector = IoVec.of(regions);
            try (SealedBuffer one = Bytes.seal(source, (byte) 3);
                    SealedBuffer two = Bytes.seal(source, (byte) 4)) {
                SealedBuffer[] parts = {one, two};
                try (SealedBuffer both = SealedBuffer.concat(parts)) {
                    Arrays.fill(regions, MemorySegment.ofArray(new byte[] {9}));
                    Arrays.fill(parts, null);
                    assertArrayEquals(new byte[] {1, 2}, Bytes.of(vector));
                    assertArrayEquals(new byte[] {3, 4}, Bytes.of(both));
                }
            }
        }
    }

    /// Open MPI 0a56067509 (2006): partial reads move `iov_base`, and a later copy starts from the moved one.
    @Nested
    class PartialReadMovesTheBase {

        @Test
        void copyFromTheMovedBaseMissesWhatCameBefore() {
            CHeap.Pointer base = CHeap.malloc(MESSAGE);
            int left = MESSAGE.length;
            for (int step : new int[] {100, 150}) {
                base = base.plus(step);
                left -= step;
            }
            assertArrayEquals(Arrays.copyOfRange(MESSAGE, 250, 300), base.read(left));
        }

        @Test
        void partialReadsLandOneBehindTheOther(MemorySource source) throws IOException {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 7)) {
                builder.readFully(new SlowChannel(MESSAGE, 13), MESSAGE.length);
                try (SealedBuffer received = builder.seal()) {
                    assertArrayEquals(MESSAGE, Bytes.of(received));
                }
            }
        }

        @Test
        void partialWritesLeaveTheVectorWhole(MemorySource source) throws IOException {
            try (SealedBuffer shared = Bytes.seal(source, MESSAGE)) {
                IoVec vector = shared.iovec();
                for (int send = 0; send < 2; send++) {
                    SlowChannel socket = new SlowChannel(new byte[0], 13);
                    assertEquals(MESSAGE.length, vector.writeTo(socket));
                    assertArrayEquals(MESSAGE, socket.written());
                }
            }
        }
    }
}
