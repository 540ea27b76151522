// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.MemorySource.Region;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/// Sources that break their contract: each ends in an exception that names the source.
class HostileSourceTest {

    private static final String WHO = "source=" + Hostile.class.getName() + " ";

    private record Piece(MemorySegment segment) implements Region {

        static Piece of(long size) {
            return new Piece(Arena.ofAuto().allocate(size));
        }

        @Override
        public void release() {}
    }

    private record Hostile(LongFunction<Region> allocates, LongFunction<MemorySegment> seals) implements MemorySource {

        static Hostile giving(Region... regions) {
            Queue<Region> left = new ArrayDeque<>(List.of(regions));
            return new Hostile(size -> left.isEmpty() ? null : left.poll(), null);
        }

        @Override
        public Region allocate(long byteSize) {
            return allocates.apply(byteSize);
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            return seals == null ? MemorySource.super.seal(region, used) : seals.apply(used);
        }
    }

    private static void refused(String message, Runnable use) {
        assertEquals(
                "memory source gave " + message,
                assertThrows(IllegalStateException.class, use::run).getMessage());
    }

    @Test
    void noRegion() {
        refused(
                "no region: " + WHO + "wanted=4",
                () -> BufferBuilder.create(Hostile.giving()).putInt(1));
    }

    @Test
    void noSegment() {
        refused(
                "a region without a segment: " + WHO + "region=" + Piece.class.getName(),
                () -> BufferBuilder.create(Hostile.giving(new Piece(null))).putInt(1));
    }

    @Test
    void regionTooSmall() {
        refused(
                "a region too small: " + WHO + "wanted=8 byteSize=7",
                () -> BufferBuilder.create(Hostile.giving(Piece.of(7))).putLong(1));
    }

    @Test
    void regionTwice() {
        Piece piece = Piece.of(8);
        BufferBuilder builder =
                BufferBuilder.create(Hostile.giving(piece, piece)).putLong(1);
        refused("a region twice: " + WHO + "wanted=8", () -> builder.putLong(2));
        assertEquals(
                -1,
                builder.seal()
                        .iovec()
                        .mismatch(Bytes.vector(
                                (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 1)));
    }

    @Test
    void memoryTwice() {
        MemorySegment memory = Arena.ofAuto().allocate(20);
        BufferBuilder builder = BufferBuilder.create(
                        Hostile.giving(new Piece(memory.asSlice(0, 8)), new Piece(memory.asSlice(7, 8))))
                .putLong(1);
        refused("memory twice: " + WHO + "wanted=8", () -> builder.putLong(2));
        assertEquals(8, builder.byteSize());
    }

    @Test
    void memoryThatNoOneMayWriteOrOneThreadOnlyOrThatIsGone() {
        refused(
                "a region that cannot be written: " + WHO + "byteSize=8",
                () -> BufferBuilder.create(Hostile.giving(
                                new Piece(MemorySegment.ofArray(new byte[8]).asReadOnly())))
                        .putInt(1));
        try (Arena confined = Arena.ofConfined()) {
            Piece mine = new Piece(confined.allocate(8));
            refused(
                    "a region confined to one thread: " + WHO + "byteSize=8",
                    () -> BufferBuilder.create(Hostile.giving(mine)).putInt(1));
        }
        Arena gone = Arena.ofShared();
        Piece freed = new Piece(gone.allocate(8));
        gone.close();
        refused(
                "a region that is freed already: " + WHO + "byteSize=8",
                () -> BufferBuilder.create(Hostile.giving(freed)).putInt(1));
    }

    @Test
    void segmentThatChanges() {
        MemorySegment[] now = {Arena.ofAuto().allocate(300)};
        Region changing = new Region() {
            @Override
            public MemorySegment segment() {
                return now[0];
            }

            @Override
            public void release() {}
        };
        BufferBuilder builder = BufferBuilder.create(Hostile.giving(changing)).putInt(1);
        String before = "0x" + Long.toHexString(now[0].address()) + "+300";
        now[0] = Arena.ofAuto().allocate(300);
        String after = "0x" + Long.toHexString(now[0].address()) + "+300";
        refused("a region whose segment changed: " + WHO + "written=" + before + " now=" + after, () -> builder.seal());
    }

    /// A builder of four bytes, whose region says another segment once it is sealed.
    private static void sealAs(String now, UnaryOperator<MemorySegment> change) {
        MemorySegment first = Arena.ofAuto().allocate(300);
        MemorySegment[] shown = {first};
        Region changing = new Region() {
            @Override
            public MemorySegment segment() {
                return shown[0];
            }

            @Override
            public void release() {}
        };
        BufferBuilder builder = BufferBuilder.create(Hostile.giving(changing)).putInt(1);
        shown[0] = change.apply(first);
        refused(
                "a region whose segment changed: " + WHO + "written=0x" + Long.toHexString(first.address())
                        + "+300 now=" + now.replace("@", Long.toHexString(first.address())),
                builder::seal);
    }

    @Test
    void segmentThatIsGoneOrShrinks() {
        sealAs("null", first -> null);
        sealAs("0x@+299", first -> first.asSlice(0, 299));
    }

    @Test
    void segmentThatGrewIsInOrder() {
        MemorySegment whole = Arena.ofAuto().allocate(400);
        MemorySegment[] shown = {whole.asSlice(0, 300)};
        Region growing = new Region() {
            @Override
            public MemorySegment segment() {
                return shown[0];
            }

            @Override
            public void release() {}
        };
        BufferBuilder builder = BufferBuilder.create(Hostile.giving(growing)).putInt(7);
        shown[0] = whole;
        try (SealedBuffer sealed = builder.seal()) {
            assertEquals(7, BufferReader.of(sealed).getInt());
        }
    }

    @Test
    void sealOfTheWrongSizeOrToNothing() {
        refused(
                "a region sealed to another size: " + WHO + "wanted=4 byteSize=5",
                () -> BufferBuilder.create(new Hostile(Piece::of, used -> MemorySegment.ofArray(new byte[5])))
                        .putInt(1)
                        .seal());
        refused(
                "a region sealed to nothing: " + WHO + "wanted=4",
                () -> BufferBuilder.create(new Hostile(Piece::of, used -> null))
                        .putInt(1)
                        .seal());
    }

    @Test
    void growthToLessThanWasWritten() {
        Piece[] grown = {null};
        MemorySource shrinking = new MemorySource() {
            @Override
            public Region allocate(long byteSize) {
                return Piece.of(64);
            }

            @Override
            public Region grow(Region region, long byteSize) {
                grown[0] = Piece.of(16);
                return grown[0];
            }
        };
        BufferBuilder builder = BufferBuilder.create(shrinking).put(Bytes.numbered(60));
        String message = "memory source gave a region too small: source="
                + shrinking.getClass().getName() + " wanted=";
        assertEquals(
                message + "68 byteSize=16",
                assertThrows(IllegalStateException.class, () -> builder.putLong(1))
                        .getMessage());
        // it stays so, and not a byte of it is sealed
        assertEquals(
                message + "60 byteSize=16",
                assertThrows(IllegalStateException.class, builder::seal).getMessage());
        assertEquals(0, grown[0].segment().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 1));
        builder.close();
    }
}
