// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource.Region;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A source that calls back into the builder that asks it for memory, as one does that flushes under pressure.
class CallingSourceTest {

    private static final int REGION = 64;

    /// At which of its calls the source calls back.
    private enum At {
        ALLOCATE,
        GROW_IN_PLACE,
        GROW_ELSEWHERE,
        SEGMENT,
        RELEASE
    }

    private final Calling source = new Calling();
    private final BufferBuilder builder = BufferBuilder.create(source);
    private final List<SealedBuffer> sealed = new ArrayList<>();

    @AfterEach
    void everyRegionIsGivenBackOnce() {
        source.at = null;
        builder.close();
        sealed.forEach(SealedBuffer::close);
        assertEquals(0, source.open);
        assertEquals(0, source.twice);
    }

    @ParameterizedTest
    @EnumSource(names = {"ALLOCATE", "GROW_IN_PLACE", "GROW_ELSEWHERE", "SEGMENT"})
    void bufferThatItsSourceSealsWhileItIsAskedNeverChanges(At at) {
        fillRegion();
        source.callBack(at, () -> sealed.add(builder.seal()));
        assertOver("builder already sealed: byteSize=64");
        byte[] content = sealed.getFirst().toByteArray();
        for (int i = 0; i < 128; i++) {
            assertOver("builder already sealed: byteSize=64");
        }
        assertArrayEquals(content, sealed.getFirst().toByteArray());
        assertEquals(REGION, content.length);
    }

    @ParameterizedTest
    @EnumSource(names = {"ALLOCATE", "GROW_IN_PLACE", "GROW_ELSEWHERE", "SEGMENT"})
    void builderThatItsSourceClosesWhileItIsAskedTakesNothing(At at) {
        fillRegion();
        source.callBack(at, builder::close);
        assertOver("builder already abandoned: byteSize=64");
        assertOver("builder already abandoned: byteSize=64");
    }

    @ParameterizedTest
    @EnumSource(names = {"ALLOCATE", "GROW_IN_PLACE", "SEGMENT"})
    void writeAndTruncateOutOfTheSourceAreRefused(At at) {
        fillRegion();
        builder.put(new byte[1000]);
        builder.truncate(REGION + 8);
        builder.put(new byte[1000 - 8 - 64]);
        long size = builder.byteSize();
        List<String> refused = new ArrayList<>();
        source.callBack(at, () -> {
            refused.add(assertThrows(IllegalStateException.class, () -> builder.put(new byte[5000]))
                    .getMessage());
            refused.add(assertThrows(IllegalStateException.class, () -> builder.truncate(8))
                    .getMessage());
        });
        builder.put(new byte[200]).putLong(5);
        String asking = "builder is asking its source for memory already: byteSize=";
        assertEquals(2, refused.size());
        refused.forEach(each -> assertTrue(each.startsWith(asking), each));
        sealed.add(builder.seal());
        assertEquals(5, BufferReader.of(sealed.getFirst()).skip(size + 200).getLong());
    }

    /// The memory of a record might move beneath it.
    @ParameterizedTest
    @EnumSource(names = {"ALLOCATE", "GROW_IN_PLACE", "SEGMENT"})
    void recordThatFindsRoomOutOfTheSourceIsRefused(At at) {
        builder.put(new byte[REGION - 4]);
        List<String> refused = new ArrayList<>();
        source.callBack(at, () -> {
            refused.add(assertThrows(IllegalStateException.class, () -> builder.record(2))
                    .getMessage());
        });
        builder.putLong(5);
        String asking = "builder is asking its source for memory already: byteSize=60";
        assertEquals(List.of(asking), refused);
        assertEquals(REGION + 4, builder.byteSize());
        builder.record(4).putInt(9).end();
        sealed.add(builder.seal());
        assertEquals(9, BufferReader.of(sealed.getFirst()).skip(REGION - 4 + 8).getInt());
    }

    @Test
    void builderThatItsSourceSealsAtATruncateSaysSo() {
        fillRegion();
        builder.putLong(1);
        source.callBack(At.RELEASE, () -> sealed.add(builder.seal()));
        assertEquals(
                "builder already sealed: byteSize=64",
                assertThrows(IllegalStateException.class, () -> builder.truncate(8))
                        .getMessage());
        assertEquals(REGION, sealed.getFirst().byteSize());
    }

    @Test
    void sealOutOfTheReleaseOfAnEmptyRegionIsTheOnlyOne() {
        fillRegion();
        builder.putLong(1);
        builder.truncate(REGION);
        source.callBack(At.RELEASE, () -> sealed.add(builder.seal()));
        assertEquals(
                "builder already sealed: byteSize=64",
                assertThrows(IllegalStateException.class, builder::seal).getMessage());
        assertEquals(REGION, sealed.getFirst().byteSize());
    }

    /// The bytes that found room before the refusal go again, though they are the first of their region.
    @Test
    void writeOutOfTheSourceThatIsRefusedHalfWayLeavesNothing() {
        builder.putInt(1).truncate(0);
        source.callBack(
                At.GROW_IN_PLACE,
                () -> assertThrows(IllegalStateException.class, () -> builder.put(new byte[REGION + 1])));
        builder.record(REGION + 8).put(new byte[REGION + 8], 0, REGION + 8).end();
        assertEquals(REGION + 8, builder.byteSize());
    }

    @Test
    void bufferThatAGrownRegionSealsNeverChanges() {
        fillRegion();
        source.callBack(At.GROW_IN_PLACE, () -> source.callBack(At.SEGMENT, () -> sealed.add(builder.seal())));
        assertOver("builder already sealed: byteSize=64");
        byte[] content = sealed.getFirst().toByteArray();
        assertOver("builder already sealed: byteSize=64");
        assertArrayEquals(content, sealed.getFirst().toByteArray());
    }

    /// The memory that the seal has cut is too small for the write, and no fault of the source's.
    @Test
    void writeThatMeetsARegionWhichItsSealCutSaysThatTheBuilderIsSealed() {
        fillRegion();
        source.callBack(
                At.GROW_IN_PLACE,
                () -> source.callBack(At.SEGMENT, () -> {
                    sealed.add(builder.seal());
                    source.last.shown = REGION;
                }));
        assertOver("builder already sealed: byteSize=64");
        assertEquals(REGION, sealed.getFirst().byteSize());
    }

    private void fillRegion() {
        for (int i = 0; i < REGION / Long.BYTES; i++) {
            builder.putLong(i);
        }
    }

    private void assertOver(String message) {
        assertEquals(
                message,
                assertThrows(IllegalStateException.class, () -> builder.putLong(-1))
                        .getMessage());
    }

    private static final class Calling implements MemorySource {

        private At at;
        private Runnable back;
        private int open;
        private int twice;
        private Piece last;

        void callBack(At when, Runnable what) {
            at = when;
            back = what;
        }

        private void reach(At now) {
            if (now == at) {
                at = null;
                back.run();
            }
        }

        @Override
        public Region allocate(long byteSize) {
            reach(At.ALLOCATE);
            return piece(byteSize <= 256 ? REGION : byteSize);
        }

        @Override
        public Region grow(Region region, long byteSize) {
            boolean inPlace = at == At.GROW_IN_PLACE;
            boolean elsewhere = at == At.GROW_ELSEWHERE;
            reach(At.GROW_IN_PLACE);
            reach(At.GROW_ELSEWHERE);
            if (inPlace) {
                ((Piece) region).shown = byteSize;
                return region;
            }
            return elsewhere ? piece(byteSize) : null;
        }

        private Piece piece(long byteSize) {
            open++;
            last = new Piece(byteSize);
            return last;
        }

        private final class Piece implements Region {

            private final MemorySegment memory = Arena.ofAuto().allocate(1 << 16);
            private long shown;
            private boolean released;

            Piece(long shown) {
                this.shown = shown;
            }

            @Override
            public MemorySegment segment() {
                reach(At.SEGMENT);
                return memory.asSlice(0, shown);
            }

            @Override
            public void release() {
                if (released) {
                    twice++;
                }
                released = true;
                open--;
                reach(At.RELEASE);
            }
        }
    }
}
