// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.Racers;
import io.bulla.testkit.SlowChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// A read that "does not change" the buffer moves a cursor inside it, and another reader is there.
///
/// netty#1865, netty#14070, netty#15402, netty#15652, protobuf#10697, Chronicle-Bytes#512, jena#4043.
@ExtendWith(NoOpenHandles.class)
class CursorOfTheSharedViewTest {

    private static final byte[] MESSAGE = Bytes.numbered(5, 300);

    @Test
    void sliceByMovingTheParentsPositionIsSeenByAReader() {
        ByteBuffer shared = ByteBuffer.wrap(MESSAGE);
        shared.position(200);
        byte seen = shared.get();
        ByteBuffer slice = shared.slice();
        shared.position(0);
        assertEquals(MESSAGE[200], seen, "a reader between the two moves reads from the middle");
        assertEquals(MESSAGE[201], slice.get(0), "and moves the slice");
    }

    @Test
    void readersOfEveryKindReadTheSameVectorAtOnce(MemorySource source) throws Exception {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            Packer.into(builder, WireFormat.OPAL_DSS).packInt64(1, 2, 3).packByteObject(MESSAGE);
            try (SealedBuffer packed = builder.seal();
                    SealedBuffer head = packed.slice(0, 10);
                    SealedBuffer tail = packed.slice(10, packed.byteSize() - 10);
                    SealedBuffer many = SealedBuffer.concat(head, tail);
                    Racers racers = new Racers(4)) {
                byte[] expected = Bytes.of(packed);
                for (int round = 0; round < 300; round++) {
                    racers.race(
                            () -> unpack(many),
                            () -> assertArrayEquals(expected, written(many.iovec())),
                            () -> assertArrayEquals(expected, Bytes.of(many)),
                            () -> assertArrayEquals(
                                    MESSAGE, Bytes.of(many.iovec().slice(expected.length - 300, 300))));
                }
            }
        }
    }

    private static void unpack(SealedBuffer buffer) {
        Unpacker unpacker = Unpacker.of(buffer, WireFormat.OPAL_DSS);
        assertArrayEquals(new long[] {1, 2, 3}, unpacker.unpackInt64s());
        assertArrayEquals(MESSAGE, Bytes.of(unpacker.unpackByteObject()));
    }

    private static byte[] written(IoVec vector) {
        SlowChannel socket = new SlowChannel(new byte[0], 17);
        try {
            vector.writeTo(socket);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return socket.written();
    }
}
