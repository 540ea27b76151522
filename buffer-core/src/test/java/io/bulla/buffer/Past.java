// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.refcount.LeaseLedger;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.stream.Stream;

/// Ways in which a buffer of given bytes may have come to be.
enum Past {
    ONE_REGION {
        @Override
        SealedBuffer of(byte... bytes) {
            return sealed(SOURCE, bytes);
        }
    },
    EMPTY_BEFORE_AND_BEHIND {
        @Override
        SealedBuffer of(byte... bytes) {
            return joined(sealed(SOURCE), sealed(SOURCE, bytes), sealed(SOURCE));
        }
    },
    REGIONS_OF_ONE_BYTE {
        @Override
        SealedBuffer of(byte... bytes) {
            return cut(1, bytes);
        }
    },
    REGIONS_OF_THREE_BYTES {
        @Override
        SealedBuffer of(byte... bytes) {
            return cut(3, bytes);
        }
    },
    REGIONS_OF_SEVENTEEN_BYTES {
        @Override
        SealedBuffer of(byte... bytes) {
            return cut(17, bytes);
        }
    },
    ODD_ADDRESS {
        @Override
        SealedBuffer of(byte... bytes) {
            MemorySegment memory = Arena.ofAuto().allocate(bytes.length + 1, 8).asSlice(1);
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
            return SealedBuffer.adopt(memory, () -> {});
        }
    },
    HEAP {
        @Override
        SealedBuffer of(byte... bytes) {
            return SealedBuffer.adopt(MemorySegment.ofArray(bytes.clone()), () -> {});
        }
    },
    SLICE_OF_A_CLOSED_PARENT {
        @Override
        SealedBuffer of(byte... bytes) {
            byte[] more = new byte[bytes.length + 10];
            Arrays.fill(more, (byte) 0xee);
            System.arraycopy(bytes, 0, more, 5, bytes.length);
            try (SealedBuffer parent = cut(7, more)) {
                return parent.slice(5, bytes.length);
            }
        }
    },
    TRACED {
        @Override
        SealedBuffer of(byte... bytes) {
            return sealed(TRACED_SOURCE, bytes);
        }
    },
    CHECKED {
        @Override
        SealedBuffer of(byte... bytes) {
            ArenaSource checked = ArenaSource.builder().safety(Safety.CHECKED).build();
            return joined(
                    sealed(CHECKED_SOURCE, Arrays.copyOf(bytes, bytes.length / 2)),
                    sealed(CHECKED_SOURCE, Arrays.copyOfRange(bytes, bytes.length / 2, bytes.length)));
        }
    };

    private static final ArenaSource SOURCE = ArenaSource.create();
    private static final ArenaSource TRACED_SOURCE = ArenaSource.create(MemoryBudget.ofProcess(), LeaseLedger.full());
    private static final ArenaSource CHECKED_SOURCE =
            ArenaSource.builder().safety(Safety.CHECKED).build();

    /// An open handle on these bytes.
    abstract SealedBuffer of(byte... bytes);

    static SealedBuffer cut(int regionSize, byte... bytes) {
        return joined(Stream.iterate(0, from -> from < bytes.length, from -> from + regionSize)
                .map(from -> sealed(SOURCE, Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + regionSize))))
                .toArray(SealedBuffer[]::new));
    }

    private static SealedBuffer sealed(MemorySource source, byte... bytes) {
        return BufferBuilder.create(source).put(bytes).seal();
    }

    private static SealedBuffer joined(SealedBuffer... parts) {
        try {
            return SealedBuffer.concat(parts);
        } finally {
            for (SealedBuffer part : parts) {
                part.close();
            }
        }
    }
}
