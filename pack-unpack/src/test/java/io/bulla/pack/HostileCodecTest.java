// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.DataType;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A codec is code of others: whatever it does ends in an exception that names it, and leaves builder and reader as
/// they were.
class HostileCodecTest {

    private static final WireFormat FORMAT = WireFormat.PMIX_4_DESCRIBED;
    private static final List<Pair> THREE = List.of(new Pair(1, "a"), new Pair(2, "b"), new Pair(3, "c"));

    record Pair(int number, String text) {}

    record Chain(int number, Chain next) {}

    /// Right, until it is told to fail at one of the calls to it.
    private static class Pairs implements Codec<Pair> {

        int calls;
        int failing = -1;
        Supplier<Throwable> failure = () -> new IllegalCallerException("boom");

        @Override
        public void pack(Packer packer, Pair value) {
            packer.packInt32(value.number());
            step();
            packer.packString(value.text());
        }

        @Override
        public Pair unpack(Unpacker unpacker) {
            int number = unpacker.unpackInt32();
            step();
            return new Pair(number, unpacker.unpackString());
        }

        final void step() {
            if (calls++ == failing) {
                HostileCodecTest.<RuntimeException>sneak(failure.get());
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneak(Throwable failure) throws E {
        throw (E) failure;
    }

    /// Unchecked, checked, an error, the end of the stack, and one that cannot even say what it is.
    private static final List<Supplier<Throwable>> FAILURES = List.of(
            () -> new IllegalCallerException("boom"),
            () -> new IOException("checked"),
            () -> new AssertionError("no"),
            StackOverflowError::new,
            () -> new RuntimeException() {
                @Override
                public String toString() {
                    throw new IllegalStateException("speechless");
                }
            });

    @Test
    void failureAtAnyCallNamesTheCodecAndLeavesTheBuilder() {
        for (Supplier<Throwable> failure : FAILURES) {
            for (int call = 0; call < 3; call++) {
                Pairs pairs = new Pairs();
                pairs.failing = call;
                pairs.failure = failure;
                RuntimeException thrown = packingFails(pairs, THREE);
                assertInstanceOf(IllegalStateException.class, thrown);
                assertTrue(thrown.getMessage().startsWith("codec failed: failure="), thrown.getMessage());
                assertTrue(thrown.getMessage().endsWith(" type=Pair id=600 value=" + call), thrown.getMessage());
                assertSame(failure.get().getClass(), thrown.getCause().getClass());
            }
        }
    }

    @Test
    void failureAtAnyCallNamesTheCodecAndLeavesTheReader() {
        for (Supplier<Throwable> failure : FAILURES) {
            for (int call = 0; call < 3; call++) {
                Pairs pairs = new Pairs();
                pairs.failing = call;
                pairs.failure = failure;
                RuntimeException thrown = unpackingFails(pairs);
                assertInstanceOf(IllegalStateException.class, thrown);
                assertTrue(thrown.getMessage().endsWith(" type=Pair id=600 value=" + call), thrown.getMessage());
            }
        }
    }

    @Test
    void badValueStaysAnArgumentAndNamesTheCodec() {
        assertEquals(
                "string holds U+0000: index=0 length=1 codec=" + Pairs.class.getName() + " type=Pair id=600 value=1",
                assertInstanceOf(
                                IllegalArgumentException.class,
                                packingFails(new Pairs(), List.of(new Pair(1, "a"), new Pair(2, "\0"))))
                        .getMessage());
        for (Object other : new Object[] {null, "text"}) {
            @SuppressWarnings("unchecked")
            List<Pair> raw = (List<Pair>) (List<?>) Arrays.asList(new Pair(1, "a"), other);
            assertEquals(
                    "value does not fit its type: found=" + (other == null ? "null" : "String") + " codec="
                            + Pairs.class.getName() + " type=Pair id=600 value=1",
                    assertInstanceOf(IllegalArgumentException.class, packingFails(new Pairs(), raw))
                            .getMessage());
        }
    }

    /// The packer took the second item back, and the codec goes on as if nothing had happened.
    @Test
    void codecThatGoesOnAfterTheMemoryRanOutPacksNoHalf() {
        Pairs pairs = new Pairs() {
            @Override
            public void pack(Packer packer, Pair value) {
                packer.packInt32(value.number());
                try {
                    packer.packInts(DataType.INT32, new int[5000]);
                } catch (RuntimeException swallowed) {
                    assertNotNull(swallowed);
                }
            }
        };
        MemorySource few = byteSize -> {
            if (byteSize > 4096) {
                throw new MemoryLimitException("refused: requested=" + byteSize);
            }
            return Packed.SOURCE.allocate(byteSize);
        };
        try (BufferBuilder builder = BufferBuilder.create(few)) {
            Packer packer = Packer.into(builder, FORMAT).packInt32(1);
            long before = builder.byteSize();
            assertThrows(MemoryLimitException.class, () -> registry(pairs).pack(packer, Pair.class, THREE));
            assertEquals(before, builder.byteSize());
        }
    }

    /// As above, of a channel that ends early.
    @Test
    void codecThatGoesOnAfterAChannelFailedPacksNoHalf() {
        Pairs pairs = new Pairs() {
            @Override
            public void pack(Packer packer, Pair value) {
                packer.packInt32(value.number());
                try {
                    packer.packByteObject(Channels.newChannel(InputStream.nullInputStream()), 4);
                } catch (IOException swallowed) {
                    assertNotNull(swallowed);
                }
            }
        };
        RuntimeException thrown = packingFails(pairs, THREE);
        assertInstanceOf(
                EOFException.class,
                assertInstanceOf(IllegalStateException.class, thrown).getCause());
    }

    @Test
    void codecMayTryOneThingAndPackAnother() {
        Pairs pairs = new Pairs() {
            @Override
            public void pack(Packer packer, Pair value) {
                packer.packInt32(value.number());
                assertThrows(IllegalArgumentException.class, () -> packer.packString("\0"));
                packer.packString(value.text());
            }
        };
        byte[] bytes = Packed.bytes(FORMAT, packer -> registry(pairs).pack(packer, Pair.class, THREE));
        assertArrayEquals(packed(), bytes);
    }

    @ParameterizedTest
    @EnumSource
    void codecThatReadsPastItsItemsIsNamed(WireFormat format) {
        Pairs greedy = new Pairs() {
            @Override
            public Pair unpack(Unpacker unpacker) {
                Pair one = super.unpack(unpacker);
                super.unpack(unpacker);
                return one;
            }
        };
        byte[] bytes =
                Packed.bytes(format, packer -> registry(format, new Pairs()).pack(packer, Pair.class, THREE));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Unpacker unpacker = Unpacker.of(buffer, format);
            UnpackException thrown = assertThrows(
                    UnpackException.class, () -> registry(format, greedy).unpack(unpacker, Pair.class));
            assertEquals(UnpackException.Reason.TRUNCATED, thrown.reason());
            assertTrue(
                    thrown.getMessage().contains(" codec=" + greedy.getClass().getName()), thrown.getMessage());
            assertEquals(0, unpacker.position());
            assertEquals(THREE, registry(format, new Pairs()).unpack(unpacker, Pair.class));
        }
    }

    @Test
    void codecThatDoesNothingOrGivesAnotherClassIsNamed() {
        Codec<Pair> nothing = codec((packer, value) -> {}, unpacker -> new Pair(1, ""));
        assertMessage("codec packs nothing:", packingFails(nothing, THREE));
        assertMessage("codec unpacks nothing:", unpackingFails(nothing));
        assertMessage(
                "codec unpacks another class: found=null", unpackingFails(codec((packer, value) -> {}, unpacker -> {
                    unpacker.skip();
                    return null;
                })));
        @SuppressWarnings({"unchecked", "rawtypes"})
        Codec<Pair> raw = (Codec) codec((packer, value) -> {}, unpacker -> {
            unpacker.skip();
            return HostileCodecTest.<Pair>unchecked("a string");
        });
        assertMessage("codec", unpackingFails(raw));
    }

    @SuppressWarnings("unchecked")
    private static <T> T unchecked(Object any) {
        return (T) any;
    }

    private static void assertMessage(String start, RuntimeException thrown) {
        assertInstanceOf(IllegalStateException.class, thrown);
        assertTrue(thrown.getMessage().startsWith(start), thrown.getMessage());
        assertTrue(thrown.getMessage().endsWith(" type=Pair id=600 value=0"), thrown.getMessage());
    }

    /// It has the builder as well, and ends it, or takes bytes back, in the middle of its item.
    @Test
    void codecThatWorksOnTheBuilderItselfIsNamed() {
        BufferBuilder sealed = BufferBuilder.create(Packed.SOURCE);
        assertMessage(
                "codec failed: failure=java.lang.IllegalStateException: builder already sealed",
                fails(sealed, codec((packer, value) -> sealed.seal().close(), null)));
        BufferBuilder closed = BufferBuilder.create(Packed.SOURCE);
        assertMessage(
                "codec failed: failure=java.lang.IllegalStateException: builder already abandoned",
                fails(
                        closed,
                        codec(
                                (packer, value) -> {
                                    packer.packInt32(1);
                                    closed.close();
                                    packer.packInt32(1);
                                },
                                null)));
        try (BufferBuilder cut = BufferBuilder.create(Packed.SOURCE)) {
            assertMessage(
                    "codec takes back what was packed:", fails(cut, codec((packer, value) -> cut.truncate(0), null)));
        }
    }

    private static RuntimeException fails(BufferBuilder builder, Codec<Pair> codec) {
        Packer packer = Packer.into(builder, FORMAT).packInt32(5);
        return assertThrows(RuntimeException.class, () -> registry(codec).pack(packer, Pair.class, THREE));
    }

    @Test
    void codecThatChangesTheListPacksWhatWasThere() {
        List<Pair> open = new ArrayList<>(THREE);
        Pairs pairs = new Pairs() {
            @Override
            public void pack(Packer packer, Pair value) {
                open.clear();
                super.pack(packer, value);
            }
        };
        assertArrayEquals(
                packed(), Packed.bytes(FORMAT, packer -> registry(pairs).pack(packer, Pair.class, open)));
    }

    /// A buffer in a buffer is as deep as a value in a value: else untrusted bytes choose how deep a stack goes.
    @Test
    void codecThatUsesItselfInBuffersEndsAtTheLimit() {
        CodecRegistry[] self = new CodecRegistry[1];
        self[0] = CodecRegistry.of(FORMAT).with(601, Chain.class, new Codec<>() {
            @Override
            public void pack(Packer packer, Chain value) {
                packer.packInt32(value.number());
                if (value.next() != null) {
                    byte[] inside =
                            Packed.bytes(FORMAT, part -> self[0].pack(part, Chain.class, List.of(value.next())));
                    try (SealedBuffer items = Packed.sealed(inside)) {
                        packer.packBuffer(items);
                    }
                }
            }

            @Override
            public Chain unpack(Unpacker unpacker) {
                int number = unpacker.unpackInt32();
                return number == 0
                        ? new Chain(0, null)
                        : new Chain(
                                number,
                                self[0].unpack(unpacker.unpackBuffer(), Chain.class)
                                        .getFirst());
            }
        });
        Chain chain = null;
        for (int number = 0; number < 40; number++) {
            chain = new Chain(number, chain);
        }
        Chain deepest = chain;
        byte[] bytes = Packed.bytes(FORMAT, packer -> self[0].pack(packer, Chain.class, List.of(deepest)));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            UnpackException deep =
                    assertThrows(UnpackException.class, () -> self[0].unpack(Unpacker.of(buffer, FORMAT), Chain.class));
            assertTrue(deep.getMessage().contains("nested too deep: expected=32 found=33"), deep.getMessage());
        }
    }

    /// Values in values are what a codec may use the packer for, as deep as the limit.
    @Test
    void codecThatUsesItselfEndsAtTheLimit() {
        CodecRegistry chains = chains();
        Chain chain = chain(32);
        byte[] bytes = Packed.bytes(FORMAT, packer -> chains.pack(packer, Chain.class, List.of(chain)));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            assertEquals(List.of(chain), chains.unpack(Unpacker.of(buffer, FORMAT), Chain.class));
            Unpacker strict = Unpacker.of(buffer, FORMAT, new Limits(10, 10, 10, 31, 10));
            UnpackException deep = assertThrows(UnpackException.class, () -> chains.unpack(strict, Chain.class));
            assertTrue(
                    deep.getMessage().startsWith("nested too deep: expected=31 found=32 offset="), deep.getMessage());
            assertTrue(deep.getMessage().endsWith(" type=Chain id=601 value=0"), deep.getMessage());
            assertEquals(0, strict.position());
        }
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            Packer packer = Packer.into(builder, FORMAT).packInt32(1);
            long before = builder.byteSize();
            IllegalArgumentException deep = assertThrows(
                    IllegalArgumentException.class, () -> chains.pack(packer, Chain.class, List.of(chain(33))));
            assertTrue(
                    deep.getMessage()
                            .startsWith("nested too deep, a reader would refuse it: nesting=33 maxNesting=32 codec="),
                    deep.getMessage());
            assertEquals(before, builder.byteSize());
            chains.pack(packer, Chain.class, List.of(chain));
        }
    }

    @Test
    void recordThatHoldsItselfHasNoCodec() {
        assertEquals(
                "record holds itself: record=Chain",
                assertThrows(IllegalArgumentException.class, () -> Codec.ofRecord(MethodHandles.lookup(), Chain.class))
                        .getMessage());
    }

    private static Chain chain(int length) {
        Chain chain = null;
        for (int i = 0; i < length; i++) {
            chain = new Chain(i, chain);
        }
        return chain;
    }

    private static CodecRegistry chains() {
        CodecRegistry[] self = new CodecRegistry[1];
        self[0] = CodecRegistry.of(FORMAT).with(601, Chain.class, new Codec<>() {
            @Override
            public void pack(Packer packer, Chain value) {
                packer.packInt32(value.number());
                self[0].pack(packer, Chain.class, value.next() == null ? List.of() : List.of(value.next()));
            }

            @Override
            public Chain unpack(Unpacker unpacker) {
                int number = unpacker.unpackInt32();
                List<Chain> next = self[0].unpack(unpacker, Chain.class);
                return new Chain(number, next.isEmpty() ? null : next.getFirst());
            }
        });
        return self[0];
    }

    private interface Pack {
        void pack(Packer packer, Pair value);
    }

    private interface Unpack {
        Pair unpack(Unpacker unpacker);
    }

    private static Codec<Pair> codec(Pack pack, Unpack unpack) {
        return new Codec<>() {
            @Override
            public void pack(Packer packer, Pair value) {
                pack.pack(packer, value);
            }

            @Override
            public Pair unpack(Unpacker unpacker) {
                return unpack.unpack(unpacker);
            }
        };
    }

    /// Packs something before and behind what fails.
    private static RuntimeException packingFails(Codec<Pair> codec, List<Pair> values) {
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            Packer packer = Packer.into(builder, FORMAT).packInt32(1, 2, 3);
            long before = builder.byteSize();
            RuntimeException thrown =
                    assertThrows(RuntimeException.class, () -> registry(codec).pack(packer, Pair.class, values));
            assertEquals(before, builder.byteSize());
            registry(new Pairs()).pack(packer, Pair.class, THREE);
            try (SealedBuffer buffer = builder.seal()) {
                Unpacker unpacker = Unpacker.of(buffer, FORMAT);
                assertArrayEquals(new int[] {1, 2, 3}, unpacker.unpackInt32s());
                assertEquals(THREE, registry(new Pairs()).unpack(unpacker, Pair.class));
                assertEquals(0, unpacker.remaining());
            }
            assertTrue(thrown.getMessage().contains(" codec=" + codec.getClass().getName()), thrown.getMessage());
            return thrown;
        }
    }

    private static RuntimeException unpackingFails(Codec<Pair> codec) {
        try (SealedBuffer buffer = Packed.sealed(packed())) {
            Unpacker unpacker = Unpacker.of(buffer, FORMAT);
            RuntimeException thrown =
                    assertThrows(RuntimeException.class, () -> registry(codec).unpack(unpacker, Pair.class));
            assertEquals(0, unpacker.position());
            assertEquals(THREE, registry(new Pairs()).unpack(unpacker, Pair.class));
            assertTrue(thrown.getMessage().contains(" codec=" + codec.getClass().getName()), thrown.getMessage());
            return thrown;
        }
    }

    private static byte[] packed() {
        return Packed.bytes(FORMAT, packer -> registry(new Pairs()).pack(packer, Pair.class, THREE));
    }

    private static CodecRegistry registry(Codec<Pair> codec) {
        return registry(FORMAT, codec);
    }

    private static CodecRegistry registry(WireFormat format, Codec<Pair> codec) {
        return CodecRegistry.of(format).with(format.isPmix() ? 600 : 100, Pair.class, codec);
    }
}
