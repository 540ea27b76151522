// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.ancestor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Packer;
import io.bulla.pack.UnpackException;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.testkit.NoOpenHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// A bug of Open MPI where the two ends of a connection disagreed about what the bytes say of themselves.
@ExtendWith(NoOpenHandles.class)
class DescriptionModeTest {

    /// Open MPI 8f68764e5e, cfeac5581a (2006): the receiver assumes buffers of its own default type.
    @Nested
    class ReceiverAssumesItsOwnDefault {

        private static final List<Consumer<Unpacker>> READS = List.of(
                Unpacker::unpackInt32,
                Unpacker::unpackInt64,
                Unpacker::unpackBool,
                Unpacker::unpackString,
                Unpacker::unpackByteObject);

        @Test
        void receiverWithAnotherDefaultReadsTheTypeTagAsACount() {
            byte[] described = {9, 0, 0, 0, 1, 9, 0, 0, 0, 42};
            int count = ByteBuffer.wrap(described).getInt();
            assertEquals(0x09000000, count, "and goes on to allocate for it");
        }

        @Test
        void thereIsNoDefault() {
            for (Class<?> end : List.of(Packer.class, Unpacker.class)) {
                List<Executable> makers = Stream.<Executable>concat(
                                Arrays.stream(end.getConstructors()), Arrays.stream(end.getMethods()))
                        .filter(maker -> maker instanceof Constructor || Modifier.isStatic(maker.getModifiers()))
                        .toList();
                assertFalse(makers.isEmpty());
                for (Executable maker : makers) {
                    assertTrue(Arrays.asList(maker.getParameterTypes()).contains(WireFormat.class), maker.toString());
                }
            }
        }

        @Test
        void readerOfTheOtherModeIsToldAtTheFirstItem(MemorySource source) {
            for (WireFormat written : WireFormat.values()) {
                items(source, written, buffer -> refusesEverything(buffer, written.described(!written.described())));
            }
        }

        private static void refusesEverything(SealedBuffer buffer, WireFormat assumed) {
            for (Consumer<Unpacker> read : READS) {
                Unpacker unpacker = Unpacker.of(buffer, assumed);
                String message = assertThrows(UnpackException.class, () -> read.accept(unpacker))
                        .getMessage();
                // a count of 589824, where tags have two bytes, is within the limit but not within the bytes
                boolean smallCount = assumed == WireFormat.PMIX_3 || assumed == WireFormat.PMIX_4_NATIVE;
                String expected = assumed.described()
                        ? "wrong type: expected=INT32"
                        : smallCount ? "" : "count out of range: expected=0..16777216";
                assertTrue(message.startsWith(expected), message);
                assertEquals(buffer.byteSize(), unpacker.remaining());
            }
        }

        private static void items(MemorySource source, WireFormat format, Consumer<SealedBuffer> check) {
            for (Consumer<Packer> item : List.<Consumer<Packer>>of(
                    packer -> packer.packInt32(42),
                    packer -> packer.packInt64(42),
                    packer -> packer.packBool(true),
                    packer -> packer.packString("forty-two"),
                    packer -> packer.packByteObject(new byte[] {42}))) {
                try (BufferBuilder builder = BufferBuilder.create(source)) {
                    item.accept(Packer.into(builder, format));
                    try (SealedBuffer buffer = builder.seal()) {
                        check.accept(buffer);
                    }
                }
            }
        }
    }
}
