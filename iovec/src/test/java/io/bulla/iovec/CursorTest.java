// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/// Both cursors over vectors in arbitrary cuts, beside a flat array: progress over a list of regions, wrong in
/// tokio#8158.
class CursorTest {

    private static final long ENTRY = NativeIoVec.ENTRY_BYTES;

    /// One send in either form: what the next window shows, up to a limit of entries and bytes.
    private interface Send {
        byte[] window(int maxEntries, long maxBytes);

        void advance(long bytes);

        void rewind();

        long remaining();

        long position();
    }

    private record Nio(IoVecCursor cursor) implements Send {

        @Override
        public byte[] window(int maxEntries, long maxBytes) {
            ByteBuffer[] views = cursor.window(maxEntries, maxBytes);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            assertEquals(true, views.length <= maxEntries);
            for (ByteBuffer view : views) {
                assertEquals(true, view.isReadOnly() && view.hasRemaining());
                while (view.hasRemaining()) {
                    bytes.write(view.get());
                }
            }
            return bytes.toByteArray();
        }

        @Override
        public void advance(long bytes) {
            cursor.advance(bytes);
        }

        @Override
        public void rewind() {
            cursor.rewind();
        }

        @Override
        public long remaining() {
            return cursor.remaining();
        }

        @Override
        public long position() {
            return cursor.position();
        }
    }

    /// Reads memory as the kernel would: by the addresses in the entries, which lie in `memory`.
    private record Kernel(NativeIoVecCursor cursor, MemorySegment memory) implements Send {

        @Override
        public byte[] window(int maxEntries, long maxBytes) {
            MemorySegment entries = cursor.window(maxEntries, maxBytes);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            assertEquals(true, cursor.windowEntries() <= maxEntries);
            for (int i = 0; i < cursor.windowEntries(); i++) {
                long address = entries.get(ValueLayout.JAVA_LONG, i * ENTRY);
                long length = entries.get(ValueLayout.JAVA_LONG, i * ENTRY + 8);
                assertEquals(true, length > 0);
                bytes.writeBytes(
                        memory.asSlice(address - memory.address(), length).toArray(ValueLayout.JAVA_BYTE));
            }
            assertEquals(cursor.windowBytes(), bytes.size());
            return bytes.toByteArray();
        }

        @Override
        public void advance(long bytes) {
            cursor.advance(bytes);
        }

        @Override
        public void rewind() {
            cursor.rewind();
        }

        @Override
        public long remaining() {
            return cursor.remaining();
        }

        @Override
        public long position() {
            return cursor.position();
        }
    }

    @Property(tries = 300)
    void arbitraryCutsAgainstAFlatReference(
            @ForAll @Size(max = 12) List<@IntRange(max = 9) Integer> cuts,
            @ForAll @IntRange(max = 5) int headerBytes,
            @ForAll @IntRange(min = 1, max = 6) int maxEntries,
            @ForAll @IntRange(min = 1, max = 40) int maxBytes,
            @ForAll @IntRange(min = 1, max = 6) int scratchEntries,
            @ForAll @IntRange(min = 1, max = 7) int step) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = numbered(arena);
            MemorySegment header = memory.asSlice(0, headerBytes);
            IoVec body = cut(memory.asSlice(headerBytes), cuts);
            byte[] flat = memory.asSlice(0, headerBytes + body.byteSize()).toArray(ValueLayout.JAVA_BYTE);
            NativeIoVec image = NativeIoVec.of(body, arena);
            check(flat, maxEntries, maxBytes, step, new Nio(IoVecCursor.of(IoVec.concat(IoVec.of(header), body))));
            check(
                    flat,
                    maxEntries,
                    maxBytes,
                    step,
                    new Kernel(NativeIoVecCursor.withHeader(header, image, arena, scratchEntries), memory));
            byte[] tail = memory.asSlice(headerBytes, body.byteSize()).toArray(ValueLayout.JAVA_BYTE);
            check(
                    tail,
                    maxEntries,
                    maxBytes,
                    step,
                    new Kernel(NativeIoVecCursor.of(image, arena, scratchEntries), memory));
        }
    }

    private static void check(byte[] flat, int maxEntries, int maxBytes, int step, Send send) {
        for (int round = 0; round < 2; round++) {
            int done = 0;
            while (done < flat.length) {
                byte[] window = send.window(maxEntries, maxBytes);
                assertEquals(true, window.length > 0 && window.length <= maxBytes);
                for (int i = 0; i < window.length; i++) {
                    assertEquals(flat[done + i], window[i]);
                }
                int took = Math.min(step, window.length);
                send.advance(took);
                done += took;
                assertEquals(flat.length - done, send.remaining());
                assertEquals(done, send.position());
            }
            assertEquals(0, send.window(maxEntries, maxBytes).length);
            assertThrows(IndexOutOfBoundsException.class, () -> send.advance(1));
            send.rewind();
        }
    }

    @Property(tries = 300)
    void channelThatTakesAnyNumberOfBytes(
            @ForAll @Size(max = 12) List<@IntRange(max = 9) Integer> cuts,
            @ForAll @Size(min = 1, max = 6) List<@IntRange(max = 20) Integer> takes,
            @ForAll @IntRange(min = 1, max = 6) int maxViews,
            @ForAll @IntRange(min = 1, max = 40) int maxBytes)
            throws IOException {
        takes.set(0, Math.max(1, takes.getFirst()));
        try (Arena arena = Arena.ofConfined()) {
            IoVec vec = cut(numbered(arena), cuts);
            byte[] flat = vec.toSegment(arena).toArray(ValueLayout.JAVA_BYTE);
            int[] each = takes.stream().mapToInt(Integer::intValue).toArray();
            IoVecCursor cursor = IoVecCursor.of(vec);
            for (int round = 0; round < 2; round++) {
                ShortChannel channel = new ShortChannel(each);
                while (cursor.remaining() > 0) {
                    cursor.advance(channel.write(cursor.window(maxViews, maxBytes)));
                }
                assertArrayEquals(flat, channel.taken());
                cursor.rewind();
            }
            ShortChannel channel = new ShortChannel(each);
            assertEquals(flat.length, vec.writeTo(channel));
            assertArrayEquals(flat, channel.taken());
        }
    }

    /// A connection that breaks at every byte, and a new one that breaks at every byte, too.
    @Test
    void reconnectsAtEveryByte() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = numbered(arena);
            IoVec body = cut(memory.asSlice(3), List.of(1, 0, 5, 2, 9));
            NativeIoVec image = NativeIoVec.of(body, arena);
            byte[] flat = memory.asSlice(0, 20).toArray(ValueLayout.JAVA_BYTE);
            for (int first = 0; first <= flat.length; first++) {
                for (int second = 0; second <= flat.length; second++) {
                    for (Send send : List.of(
                            new Nio(IoVecCursor.of(IoVec.concat(IoVec.of(memory.asSlice(0, 3)), body))),
                            new Kernel(NativeIoVecCursor.withHeader(memory.asSlice(0, 3), image, arena, 3), memory))) {
                        send.advance(first);
                        send.window(2, Long.MAX_VALUE);
                        send.rewind();
                        send.advance(second);
                        byte[] rest = drained(send);
                        assertArrayEquals(Arrays.copyOfRange(flat, second, flat.length), rest);
                    }
                }
            }
        }
    }

    private static byte[] drained(Send send) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        while (send.remaining() > 0) {
            byte[] window = send.window(1024, Long.MAX_VALUE);
            bytes.writeBytes(window);
            send.advance(window.length);
        }
        return bytes.toByteArray();
    }

    @Test
    void shortWritesAtEveryByte() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = numbered(arena);
            IoVec body = cut(memory.asSlice(3), List.of(1, 0, 5, 2, 9));
            NativeIoVec image = NativeIoVec.of(body, arena);
            byte[] flat = memory.asSlice(0, 20).toArray(ValueLayout.JAVA_BYTE);
            for (int first = 0; first <= flat.length; first++) {
                for (Send send : List.of(
                        new Nio(IoVecCursor.of(IoVec.concat(IoVec.of(memory.asSlice(0, 3)), body))),
                        new Kernel(NativeIoVecCursor.withHeader(memory.asSlice(0, 3), image, arena, 8), memory))) {
                    send.advance(first);
                    byte[] rest = send.window(1024, Long.MAX_VALUE);
                    assertEquals(flat.length - first, rest.length);
                    for (int i = 0; i < rest.length; i++) {
                        assertEquals(flat[first + i], rest[i]);
                    }
                }
            }
        }
    }

    @Test
    void theSharedImageIsHandedOutAsItIsAndNeverTouched() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = numbered(arena);
            NativeIoVec image = NativeIoVec.of(cut(memory, List.of(4, 4, 4)), arena);
            byte[] before = image.entries().toArray(ValueLayout.JAVA_BYTE);
            NativeIoVecCursor cursor = NativeIoVecCursor.of(image, arena, 2);
            assertSame(image.entries(), cursor.window(3, 12));
            cursor.advance(1);
            MemorySegment scratch = cursor.window(3, 12);
            assertEquals(2, cursor.windowEntries());
            assertEquals(7, cursor.windowBytes());
            assertEquals(memory.address() + 1, scratch.get(ValueLayout.JAVA_LONG, 0));
            assertEquals(-1, MemorySegment.ofArray(before).mismatch(image.entries()));
            assertThrows(IllegalArgumentException.class, () -> image.entries().set(ValueLayout.JAVA_LONG, 0, 1));
        }
    }

    @Test
    void whatCannotBeSentIsRefusedByName() {
        try (Arena arena = Arena.ofConfined()) {
            IoVec heap = IoVec.concat(IoVec.of(arena.allocate(2)), IoVec.of(MemorySegment.ofArray(new byte[3])));
            refused("region lies on the heap: index=1 byteSize=3", () -> NativeIoVec.of(heap, arena));
            NativeIoVec image = NativeIoVec.of(IoVec.of(arena.allocate(2)), arena);
            refused("a cursor needs room for an entry: scratchEntries=0", () -> NativeIoVecCursor.of(image, arena, 0));
            refused(
                    "header lies on the heap: byteSize=3",
                    () -> NativeIoVecCursor.withHeader(MemorySegment.ofArray(new byte[3]), image, arena, 1));
            refused(
                    "a window of nothing: maxEntries=0 maxBytes=1",
                    () -> NativeIoVecCursor.of(image, arena, 1).window(0, 1));
            refused(
                    "a window of nothing: maxViews=1 maxBytes=0",
                    () -> IoVecCursor.of(heap).window(1, 0));
            assertEquals(
                    "advance past the end: offset=0 length=3 byteSize=2",
                    assertThrows(
                                    IndexOutOfBoundsException.class,
                                    () -> NativeIoVecCursor.of(image, arena, 1).advance(3))
                            .getMessage());
        }
    }

    @Test
    void memoryThatIsGoneIsRefusedByName() {
        try (Arena arena = Arena.ofConfined()) {
            Arena gone = Arena.ofConfined();
            MemorySegment region = gone.allocate(3);
            IoVec alive = IoVec.of(arena.allocate(2));
            NativeIoVec image = NativeIoVec.of(alive, arena);
            NativeIoVecCursor imageless = NativeIoVecCursor.of(NativeIoVec.of(alive, gone), arena, 1);
            NativeIoVecCursor scratchless = NativeIoVecCursor.of(image, gone, 1);
            scratchless.advance(1);
            gone.close();
            refused(
                    "region is freed already: index=1 byteSize=3",
                    () -> NativeIoVec.of(IoVec.concat(alive, IoVec.of(region)), arena));
            refused("header is freed already: byteSize=3", () -> NativeIoVecCursor.withHeader(region, image, arena, 1));
            assertEquals(
                    "image is freed already: entries=1",
                    assertThrows(IllegalStateException.class, () -> imageless.window(1024, Long.MAX_VALUE))
                            .getMessage());
            assertEquals(
                    "Already closed",
                    assertThrows(IllegalStateException.class, () -> scratchless.window(1024, Long.MAX_VALUE))
                            .getMessage());
        }
    }

    private static void refused(String message, org.junit.jupiter.api.function.Executable call) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, call).getMessage());
    }

    private static MemorySegment numbered(Arena arena) {
        MemorySegment memory = arena.allocate(256, 1);
        for (int i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) i);
        }
        return memory;
    }

    private static IoVec cut(MemorySegment memory, List<Integer> cuts) {
        List<MemorySegment> regions = new ArrayList<>();
        long at = 0;
        for (int length : cuts) {
            regions.add(memory.asSlice(at, length));
            at += length;
        }
        return IoVec.of(regions.toArray(MemorySegment[]::new));
    }
}
