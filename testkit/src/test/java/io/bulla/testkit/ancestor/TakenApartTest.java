// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.ancestor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.refcount.Lease;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.Compiler;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.SlowChannel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Bugs of Open MPI where a buffer was taken apart, put together or copied, and came out wrong.
@ExtendWith(NoOpenHandles.class)
class TakenApartTest {

    private static final byte[] MESSAGE = Bytes.numbered(3, 300);

    /// Open MPI 22d7c0081a (2015): `unload` hands out the read position as the block, and it is freed.
    @Nested
    class InteriorPointerIsFreed {

        @Test
        void freeOfTheReadPositionAborts() {
            CHeap.Pointer unpackPointer = CHeap.malloc(MESSAGE).plus(4);
            assertEquals(
                    "free(): invalid pointer",
                    assertThrows(IllegalStateException.class, () -> CHeap.free(unpackPointer))
                            .getMessage());
        }

        @Test
        void lastCloseOfASliceGivesTheWholeBlockBack(MemorySource source) {
            SealedBuffer whole = Bytes.seal(source, MESSAGE);
            IoVec escaped = whole.iovec();
            SealedBuffer rest = whole.slice(4, 10);
            SealedBuffer inside = rest.slice(2, 3);
            whole.close();
            rest.close();
            assertArrayEquals(Bytes.numbered(3 + 6, 3), Bytes.of(inside));
            inside.close();
            assertArrayEquals(CHeap.poison(MESSAGE.length), Bytes.of(escaped));
        }

        @Test
        void nothingHandsTheMemoryOut() {
            assertEquals(List.of(), Compiler.errors("io.bulla.buffer.SealedBuffer b = null; b.iovec();"));
            for (String taking : List.of("unload", "load", "release", "retain(1)", "address", "segment", "array")) {
                String call = taking.endsWith(")") ? taking : taking + "()";
                assertNotEquals(
                        List.of(), Compiler.errors("io.bulla.buffer.SealedBuffer b = null; b." + call + ";"), taking);
            }
        }
    }

    /// Open MPI 373e816b37 (2019): unload and load leave positions and sizes of the former content behind.
    @Nested
    class FieldsStayStale {

        @Test
        void reloadedBufferRemembersTheOldReadPosition() {
            class Opal {
                private byte[] base;
                private int unpackAt;

                byte[] unload() {
                    byte[] out = base;
                    base = null;
                    return out;
                }

                void load(byte[] in) {
                    base = in;
                }

                byte unpack() {
                    return base[unpackAt++];
                }
            }
            Opal buffer = new Opal();
            buffer.load(new byte[] {1, 2, 3});
            buffer.unpack();
            buffer.unpack();
            buffer.unload();
            buffer.load(new byte[] {7, 8, 9});
            assertEquals(9, buffer.unpack(), "the first two items of the new content are lost");
        }

        @Test
        void nothingInASealedBufferCanBeAssigned(MemorySource source) {
            try (SealedBuffer one = Bytes.seal(source, MESSAGE);
                    SealedBuffer slice = one.slice(10, 10);
                    SealedBuffer many = SealedBuffer.concat(one, slice)) {
                Set<String> assignable = new TreeSet<>();
                for (Object shared : List.of(
                        one,
                        slice,
                        many,
                        slice.iovec(),
                        many.iovec(),
                        IoVec.of(slice.iovec().region(0)))) {
                    assignable.addAll(assignableFields(shared.getClass()));
                }
                assertEquals(Set.of("Lease.attachment"), assignable, "only whether the handle is closed");
                assertEquals(
                        Set.of("ByteCursor.position", "Unpacker.codecs", "Unpacker.named"),
                        assignableFields(Unpacker.class),
                        "readers own theirs");
            }
        }

        @Test
        void sealedBufferHasNoOperationThatChangesIt() {
            Set<String> commands = new TreeSet<>();
            for (Class<?> type : List.of(SealedBuffer.class, Lease.class, IoVec.class)) {
                for (Method method : type.getDeclaredMethods()) {
                    boolean callable = Modifier.isPublic(method.getModifiers()) && !method.isSynthetic();
                    if (callable && method.getReturnType() == void.class) {
                        commands.add(type.getSimpleName() + "." + method.getName());
                    }
                }
            }
            assertEquals(Set.of("Lease.close", "IoVec.copyTo", "IoVec.checkRange", "IoVec.verify"), commands);
        }

        @Test
        void spentBuilderKeepsNothing(MemorySource source) {
            BufferBuilder builder = BufferBuilder.create(source).put(MESSAGE);
            builder.seal().close();
            assertEquals(0, builder.byteSize());
            for (Runnable use : List.<Runnable>of(
                    builder::seal, () -> builder.putInt(1), () -> builder.put(MESSAGE), () -> builder.truncate(0))) {
                assertEquals(
                        "builder already sealed: byteSize=" + MESSAGE.length,
                        assertThrows(IllegalStateException.class, use::run).getMessage());
            }
        }

        private static Set<String> assignableFields(Class<?> type) {
            Set<String> found = new TreeSet<>();
            for (Class<?> at = type; at != Object.class; at = at.getSuperclass()) {
                for (Field field : at.getDeclaredFields()) {
                    if (!Modifier.isFinal(field.getModifiers()) && !Modifier.isStatic(field.getModifiers())) {
                        found.add(at.getSimpleName() + "." + field.getName());
                    }
                }
            }
            return found;
        }
    }

    /// Open MPI 8faabed2cd (2014), 7c96c5498a (2012): zero bytes leave an older pointer in place.
    @Nested
    class EmptyKeepsAnOldPointer {

        @Test
        void unpackOfNothingLeavesTheObjectBefore() {
            byte[][] out = {MESSAGE};
            byte[] wire = {};
            if (wire.length > 0) {
                out[0] = wire;
            }
            assertArrayEquals(MESSAGE, out[0], "the empty object looks like the one before");
        }

        @Test
        void emptyObjectAfterAFullOneIsEmpty(MemorySource source) {
            try (BufferBuilder builder = BufferBuilder.create(source)) {
                Packer.into(builder, WireFormat.OPAL_DSS)
                        .packByteObject(MESSAGE)
                        .packByteObject(new byte[0]);
                try (SealedBuffer buffer = builder.seal()) {
                    Unpacker unpacker = Unpacker.of(buffer, WireFormat.OPAL_DSS);
                    assertArrayEquals(MESSAGE, Bytes.of(unpacker.unpackByteObject()));
                    isEmpty(unpacker.unpackByteObject());
                }
            }
        }

        @Test
        void everyEmptyBufferIsABuffer(MemorySource source) throws IOException {
            List<SealedBuffer> empties = new ArrayList<>();
            try (SealedBuffer full = Bytes.seal(source, MESSAGE)) {
                empties.add(BufferBuilder.create(source).seal());
                empties.add(Bytes.seal(source));
                empties.add(truncated(source));
                empties.add(full.slice(100, 0));
                empties.add(full.slice(MESSAGE.length, 0));
                empties.add(SealedBuffer.concat());
                empties.add(SealedBuffer.concat(empties.toArray(SealedBuffer[]::new)));
                empties.add(SealedBuffer.adopt(MemorySegment.ofArray(new byte[0]), () -> {}));
                empties.add(empties.getFirst().copy(source));
                empties.add(empties.getFirst().share());
            }
            for (SealedBuffer empty : empties) {
                try (empty) {
                    assertEquals(0, empty.byteSize());
                    isEmpty(empty.iovec());
                    SlowChannel socket = new SlowChannel(new byte[0], 10);
                    assertEquals(0, empty.iovec().writeTo(socket));
                    assertEquals(0, socket.written().length);
                }
            }
        }

        private static SealedBuffer truncated(MemorySource source) {
            BufferBuilder builder = BufferBuilder.create(source).put(MESSAGE);
            builder.truncate(0);
            return builder.seal();
        }

        private static void isEmpty(IoVec vector) {
            assertEquals(0, vector.byteSize());
            assertEquals(0, vector.regionCount());
            assertEquals(0, vector.asByteBuffers().length);
            assertThrows(IndexOutOfBoundsException.class, () -> vector.get(ValueLayout.JAVA_BYTE, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> vector.region(0));
        }
    }

    /// Open MPI 4c38c31ccf (2015): `opal_dss.copy` of a buffer says SUCCESS and copies nothing.
    @Nested
    class CopyThatDoesNotCopy {

        @Test
        void successWithAnEmptyTarget() {
            class Dss {
                int copy(OpalBuffer from, OpalBuffer target) {
                    return from.bytesUsed() < 0 ? target.bytesUsed() : 0;
                }
            }
            OpalBuffer from = new OpalBuffer();
            from.pack(MESSAGE);
            OpalBuffer target = new OpalBuffer();
            assertEquals(0, new Dss().copy(from, target), "SUCCESS");
            assertEquals(0, target.bytesUsed());
        }

        @Test
        void shareIsTheSameBytesAndCopyEqualOnes(MemorySource source) {
            SealedBuffer from = Bytes.seal(source, MESSAGE);
            SealedBuffer share = from.share();
            SealedBuffer copy = from.copy(source);
            assertEquals(
                    from.iovec().region(0).address(), share.iovec().region(0).address());
            assertNotEquals(
                    from.iovec().region(0).address(), copy.iovec().region(0).address());
            IoVec escaped = from.iovec();
            from.close();
            assertArrayEquals(MESSAGE, Bytes.of(share));
            share.close();
            assertArrayEquals(CHeap.poison(MESSAGE.length), Bytes.of(escaped));
            assertArrayEquals(MESSAGE, Bytes.of(copy), "stands alone");
            copy.close();
        }
    }
}
