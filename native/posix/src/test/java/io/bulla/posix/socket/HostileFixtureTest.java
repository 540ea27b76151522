// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.IoVecCursor;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.Pieces;
import io.bulla.posix.fixtures.SendFixture;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;

/// Vectors that no program would write, and memory that is not there any more.
@ExtendWith(NothingStays.class)
class HostileFixtureTest {

    private static final int MIB = 1 << 20;
    private static final int[] LENGTHS = {0, 1, 4095, 4097};

    private Arena arena;
    private PosixSocket[] pair;

    @BeforeEach
    void open() throws PosixException {
        arena = Arena.ofShared();
        pair = PosixSocket.unixPair();
    }

    @AfterEach
    void close() {
        pair[0].close();
        pair[1].close();
        arena.close();
    }

    private NativeIoVecCursor cursor(IoVec vec) {
        return NativeIoVecCursor.of(NativeIoVec.of(vec, arena), arena, 64);
    }

    private static List<int[]> permutations(int... of) {
        if (of.length == 0) {
            return List.of(of);
        }
        List<int[]> all = new ArrayList<>();
        for (int first = 0; first < of.length; first++) {
            int[] others = new int[of.length - 1];
            System.arraycopy(of, 0, others, 0, first);
            System.arraycopy(of, first + 1, others, first, others.length - first);
            for (int[] rest : permutations(others)) {
                int[] one = new int[of.length];
                one[0] = of[first];
                System.arraycopy(rest, 0, one, 1, rest.length);
                all.add(one);
            }
        }
        return all;
    }

    @Test
    void regionsBesideThePageAtOddAddressesInAnyOrder() throws PosixException {
        byte[] bytes = Pieces.random(Arrays.stream(LENGTHS).sum());
        for (int[] lengths : permutations(LENGTHS)) {
            IoVec vec = Pieces.of(arena, bytes, lengths);
            assertEquals(3, vec.regionCount());
            for (int i = 0; i < vec.regionCount(); i++) {
                assertEquals(1, vec.region(i).address() & 1);
            }
            MemorySegment header = vec.region(0);
            IoVec body = vec.slice(header.byteSize(), vec.byteSize() - header.byteSize());
            NativeIoVecCursor gathered = NativeIoVecCursor.withHeader(header, NativeIoVec.of(body, arena), arena, 3);
            assertEquals(bytes.length, pair[0].writev(cursor(vec)));
            assertArrayEquals(bytes, SendFixture.receive(pair[1], bytes.length));
            assertEquals(bytes.length, pair[0].sendmsg(gathered));
            assertArrayEquals(bytes, SendFixture.receive(pair[1], bytes.length));
            SealedBuffer[] parts = new SealedBuffer[vec.regionCount()];
            for (int i = 0; i < parts.length; i++) {
                parts[i] = SealedBuffer.adopt(vec.region(i), () -> {});
            }
            pair[0].moveAndSend(SealedBuffer.concat(parts));
            assertArrayEquals(bytes, SendFixture.receive(pair[1], bytes.length));
        }
    }

    @Test
    void nothingAtAll() throws PosixException {
        IoVec nothing = IoVec.of(arena.allocate(0), arena.allocate(0));
        assertEquals(0, pair[0].writev(cursor(nothing)));
        assertEquals(0, pair[0].sendmsg(cursor(nothing)));
        assertEquals(2, pair[0].sendmmsg(cursor(nothing), cursor(nothing)));
        assertEquals(0, pair[0].sendmmsg());
        pair[0].moveAndSend(SealedBuffer.adopt(arena.allocate(0), () -> {}));
        assertFalse(pair[1].awaitReadable(10));
    }

    /// Sparse: one MiB of memory, named 2100 times.
    @Test
    void moreThanTwoGiB() throws Exception {
        int times = 2100;
        MemorySegment one = arena.allocate(MIB);
        MemorySegment.copy(Pieces.random(MIB), 0, one, JAVA_BYTE, 0, MIB);
        MemorySegment[] regions = new MemorySegment[times];
        Arrays.fill(regions, one);
        IoVec vec = IoVec.of(regions);
        assertTrue(vec.byteSize() > Integer.MAX_VALUE);
        CRC32C expected = new CRC32C();
        for (int i = 0; i < times; i++) {
            expected.update(one.asByteBuffer());
        }
        CompletableFuture<Long> received = CompletableFuture.supplyAsync(() -> digest(vec.byteSize()));
        NativeIoVecCursor cursor = cursor(vec);
        while (cursor.remaining() > 0) {
            assertTrue(pair[0].writev(cursor) > 0);
        }
        assertEquals(vec.byteSize(), cursor.position());
        assertEquals(expected.getValue(), received.get(60, TimeUnit.SECONDS));
        assertEquals(expected.getValue(), digest(IoVecCursor.of(vec)));
    }

    private long digest(long size) {
        MemorySegment target = arena.allocate(MIB / 4);
        ByteBuffer view = target.asByteBuffer();
        CRC32C digest = new CRC32C();
        try {
            for (long done = 0; done < size; ) {
                int read = (int) pair[1].receive(target);
                digest.update(view.clear().limit(read));
                done += read;
            }
        } catch (PosixException e) {
            throw new IllegalStateException(e);
        }
        return digest.getValue();
    }

    /// What a channel would see that takes 300 MiB and a byte at a time.
    private static long digest(IoVecCursor cursor) {
        CRC32C digest = new CRC32C();
        while (cursor.remaining() > 0) {
            long took = 0;
            for (ByteBuffer view : cursor.window(1024, 300L * MIB + 1)) {
                took += view.remaining();
                digest.update(view);
            }
            cursor.advance(took);
        }
        return digest.getValue();
    }

    /// A segment that names more than there is: nothing here may touch it.
    @SuppressWarnings("restricted")
    private static MemorySegment madeUp(long address, long size) {
        return MemorySegment.ofAddress(address).reinterpret(size);
    }

    @Test
    void sizesNextToLongMax() {
        IoVec most = IoVec.of(madeUp(16, Long.MAX_VALUE));
        IoVec one = IoVec.of(arena.allocate(1));
        fails(ArithmeticException.class, "long overflow", () -> IoVec.concat(most, one));
        fails(ArithmeticException.class, "long overflow", () -> IoVec.concat(most, most, most));
        NativeIoVec image = NativeIoVec.of(most, arena);
        fails(
                ArithmeticException.class,
                "long overflow",
                () -> NativeIoVecCursor.withHeader(arena.allocate(1), image, arena, 2));
        NativeIoVecCursor cursor = NativeIoVecCursor.of(image, arena, 2);
        cursor.advance(Long.MAX_VALUE - 1);
        fails(
                IndexOutOfBoundsException.class,
                "advance past the end: offset=9223372036854775806 length=2 byteSize=9223372036854775807",
                () -> cursor.advance(2));
        assertEquals(1, cursor.remaining());
        cursor.window(2, Long.MAX_VALUE);
        assertEquals(1, cursor.windowBytes());
        cursor.rewind();
        cursor.advance(1);
        cursor.window(2, 1 << 30);
        assertEquals(1 << 30, cursor.windowBytes());
        assertEquals(1, cursor.windowEntries());
        IoVecCursor views = IoVecCursor.of(most);
        views.advance(Long.MAX_VALUE - 3);
        assertEquals(3, views.window(9, Long.MAX_VALUE)[0].remaining());
        views.rewind();
        assertEquals(9, views.window(9, Long.MAX_VALUE).length);
        fails(
                IndexOutOfBoundsException.class,
                "slice past the end: offset=9223372036854775807 length=9223372036854775807"
                        + " byteSize=9223372036854775807",
                () -> most.slice(Long.MAX_VALUE, Long.MAX_VALUE));
    }

    @Test
    void addressOfNothingIsAnErrorAndNotAFault() throws PosixException {
        NativeIoVecCursor cursor = cursor(IoVec.of(madeUp(16, 3)));
        assertEquals(
                Errno.EFAULT,
                assertThrows(PosixException.class, () -> pair[0].writev(cursor)).errno());
        assertEquals(
                Errno.EFAULT,
                assertThrows(PosixException.class, () -> pair[0].sendmmsg(cursor))
                        .errno());
        assertEquals(0, cursor.position());
        SealedBuffer buffer = SealedBuffer.adopt(madeUp(16, 3), () -> {});
        assertEquals(
                Errno.EFAULT,
                assertThrows(PosixException.class, () -> pair[0].moveAndSend(buffer))
                        .errno());
        assertFalse(buffer.isOpen());
        assertFalse(pair[1].awaitReadable(10));
    }

    @Test
    void closedArenas() {
        Arena body = Arena.ofShared();
        IoVec vec = IoVec.of(body.allocate(8));
        SealedBuffer adopted = SealedBuffer.adopt(body.allocate(8), () -> {});
        MemorySegment target = body.allocate(8);
        NativeIoVecCursor imageless = NativeIoVecCursor.of(NativeIoVec.of(IoVec.of(arena.allocate(8)), body), arena, 1);
        NativeIoVecCursor scratchless =
                NativeIoVecCursor.of(NativeIoVec.of(IoVec.of(arena.allocate(8)), arena), body, 1);
        body.close();
        fails(
                IllegalArgumentException.class,
                "region is freed already: index=0 byteSize=8",
                () -> NativeIoVec.of(vec, arena));
        fails(
                IllegalArgumentException.class,
                "region is freed already: index=0 byteSize=8",
                () -> pair[0].moveAndSend(adopted));
        assertFalse(adopted.isOpen());
        for (Executable send : List.<Executable>of(
                () -> pair[0].writev(imageless), () -> pair[0].sendmsg(imageless), () -> pair[0].sendmmsg(imageless))) {
            fails(IllegalStateException.class, "image is freed already: entries=1", send);
        }
        scratchless.advance(1);
        fails(IllegalStateException.class, "Already closed", () -> pair[0].writev(scratchless));
        fails(IllegalStateException.class, "Already closed", () -> pair[0].receive(target));
    }

    @Test
    void memoryOfAnotherThread() throws Exception {
        try (Arena mine = Arena.ofConfined()) {
            MemorySegment target = mine.allocate(8);
            CompletableFuture<Void> other = CompletableFuture.runAsync(
                    () -> assertThrows(WrongThreadException.class, () -> pair[0].receive(target)));
            other.get(60, TimeUnit.SECONDS);
        }
    }

    private static void fails(Class<? extends Exception> type, String message, Executable call) {
        assertEquals(message, assertThrows(type, call).getMessage());
    }
}
