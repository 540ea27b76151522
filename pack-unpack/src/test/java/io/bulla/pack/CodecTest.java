// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.Timeval;
import java.lang.invoke.MethodHandles;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CodecTest {

    record Place(String host, short slot) {}

    record Job(String name, int ranks, long memory, boolean restart, byte level, double share, Place first) {}

    record Arrays(int[] ints, long[] longs, Timeval start) {}

    record Nothing() {}

    record Odd(List<String> names) {}

    private static final Codec<Job> JOB = Codec.ofRecord(MethodHandles.lookup(), Job.class);
    private static final Job ONE = new Job("a.out", 16, 1L << 40, true, (byte) -3, 0.25, new Place("n1", (short) 7));
    private static final Job TWO = new Job(null, 1, -1, false, (byte) 0, -0.0, new Place("", (short) -1));

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"OPAL_DSS_2012", "OPAL_DSS_2012_DESCRIBED"})
    void recordsAreReadAsTheyWerePacked(WireFormat format) {
        CodecRegistry registry = registry(format);
        byte[] bytes = Packed.bytes(format, packer -> {
            registry.pack(packer, Job.class, List.of(ONE, TWO));
            packer.packInt32(5);
        });
        for (int at = 0; at < bytes.length; at++) {
            try (SealedBuffer buffer = Packed.cut(bytes, at)) {
                Unpacker unpacker = Unpacker.of(buffer, format);
                assertEquals(List.of(ONE, TWO), registry.unpack(unpacker, Job.class));
                assertEquals(5, unpacker.unpackInt32());
                if (format.described()) {
                    Unpacker again = Unpacker.of(buffer, format);
                    assertEquals(List.of(ONE, TWO), registry.unpackNext(again));
                    assertEquals(List.of(5), registry.unpackNext(again));
                }
            }
        }
    }

    @Test
    void idAndCountStandBeforeTheItemsOfEachValue() {
        WireFormat format = WireFormat.OPAL_DSS_DESCRIBED;
        CodecRegistry registry =
                CodecRegistry.of(format).with(101, Place.class, Codec.ofRecord(MethodHandles.lookup(), Place.class));
        assertEquals(
                "090000000165" + "09000000010300000003" + "6e3100" + "09000000010800" + "07",
                Packed.hex(format, packer -> registry.pack(packer, Place.class, List.of(new Place("n1", (short) 7)))));
    }

    @Test
    void arraysAndCompositesAreComponentsToo() {
        Codec<Arrays> codec = Codec.ofRecord(MethodHandles.lookup(), Arrays.class);
        byte[] bytes = Packed.bytes(
                WireFormat.PMIX_4,
                packer -> codec.pack(packer, new Arrays(new int[] {1, 2}, new long[] {}, new Timeval(3, 4))));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Arrays read = codec.unpack(Unpacker.of(buffer, WireFormat.PMIX_4));
            assertArrayEquals(new int[] {1, 2}, read.ints());
            assertArrayEquals(new long[] {}, read.longs());
            assertEquals(new Timeval(3, 4), read.start());
        }
    }

    @Test
    void codecThatFailsHalfWayLeavesNothing() {
        WireFormat format = WireFormat.PMIX_4_DESCRIBED;
        CodecRegistry registry = registry(format);
        Job bad = new Job("a\0b", 1, 1, true, (byte) 1, 1, new Place("", (short) 1));
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            Packer packer = Packer.into(builder, format).packInt32(1);
            long before = builder.byteSize();
            assertThrows(IllegalArgumentException.class, () -> registry.pack(packer, Job.class, List.of(ONE, bad)));
            assertEquals(before, builder.byteSize());
            registry.pack(packer, Job.class, List.of(ONE));
            try (SealedBuffer buffer = builder.seal();
                    SealedBuffer part = buffer.slice(0, buffer.byteSize() - 1)) {
                Unpacker unpacker = Unpacker.of(part, format);
                unpacker.skip();
                long position = unpacker.position();
                assertThrows(UnpackException.class, () -> registry.unpack(unpacker, Job.class));
                assertEquals(position, unpacker.position());
                assertEquals(
                        "unknown type: expected=a type of PMIX_4_DESCRIBED found=600 offset=" + position,
                        assertThrows(
                                        UnpackException.class,
                                        () -> CodecRegistry.of(format).unpackNext(unpacker))
                                .getMessage());
            }
        }
    }

    @Test
    void recordThatFailsHalfWayLeavesNothingWithoutARegistryToo() {
        WireFormat format = WireFormat.PMIX_4_DESCRIBED;
        Job bad = new Job("a", 1, 1, true, (byte) 1, 1, new Place("a\0b", (short) 1));
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            Packer packer = Packer.into(builder, format).packInt32(1);
            long before = builder.byteSize();
            assertThrows(IllegalArgumentException.class, () -> JOB.pack(packer, bad));
            assertEquals(before, builder.byteSize());
            JOB.pack(packer, ONE);
            try (SealedBuffer buffer = builder.seal();
                    SealedBuffer part = buffer.slice(0, buffer.byteSize() - 1)) {
                Unpacker unpacker = Unpacker.of(part, format);
                unpacker.skip();
                long position = unpacker.position();
                assertThrows(UnpackException.class, () -> JOB.unpack(unpacker));
                assertEquals(position, unpacker.position());
            }
        }
    }

    @Test
    void registryRefusesWhatCouldBeMistaken() {
        CodecRegistry registry = registry(WireFormat.PMIX_4);
        refused(
                "id is not free for types of one's own: id=500 first=501 last=65535 format=PMIX_4",
                () -> registry.with(500, Job.class, JOB));
        refused(
                "id is not free for types of one's own: id=99 first=100 last=254 format=OPAL_DSS",
                () -> CodecRegistry.of(WireFormat.OPAL_DSS).with(99, Job.class, JOB));
        refused("id or type is taken: id=601 type=Job", () -> registry.with(601, Job.class, JOB));
        refused("type is not registered: type=Place", () -> registry.pack(null, Place.class, List.of()));
        refused(
                "registry of another format: registry=PMIX_4 given=OPAL_DSS",
                () -> registry.pack(
                        Packer.into(BufferBuilder.create(Packed.SOURCE), WireFormat.OPAL_DSS), Job.class, List.of()));
        refused(
                "record without a component: record=Nothing",
                () -> Codec.ofRecord(MethodHandles.lookup(), Nothing.class));
        refused(
                "no codec for a component: component=names type=List",
                () -> Codec.ofRecord(MethodHandles.lookup(), Odd.class));
        refused(
                "lookup may not see the record: record=Job",
                () -> Codec.ofRecord(MethodHandles.publicLookup(), Job.class));
    }

    private static void refused(String message, org.junit.jupiter.api.function.Executable call) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, call).getMessage());
    }

    private static CodecRegistry registry(WireFormat format) {
        return CodecRegistry.of(format).with(format.isPmix() ? 600 : 100, Job.class, JOB);
    }
}
