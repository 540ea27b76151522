// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseLedger;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.SettingsDraft;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.netty.channel.DefaultEventLoop;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What becomes of a batch's messages: which share its memory, and which get their own.
class BatchReaderTest {

    private static final int BODY = 48;
    private static final int FRAME = Frame.BYTES + BODY;

    private final LeaseLedger ledger = LeaseLedger.full();
    private final ArenaSource memory = ArenaSource.create(MemoryBudget.unlimited(), ledger);
    private final DefaultEventLoop loop = new DefaultEventLoop();
    private final List<SealedBuffer> bodies = new ArrayList<>();
    private final List<Frame> frames = new ArrayList<>();
    private Predicate<Frame> isNew = frame -> true;
    private Predicate<Frame> refused = frame -> false;
    private String tag;
    private Predicate<Frame> owesTooMany = frame -> false;
    private boolean isOpen = true;
    private int failsAt = Integer.MAX_VALUE;

    /// A peer that keeps what it gets.
    private final FrameSink peer = (FrameSink) Proxy.newProxyInstance(
            BatchReaderTest.class.getClassLoader(),
            new Class<?>[] {FrameSink.class},
            (self, method, given) -> switch (method.getName()) {
                case "tag" -> tag;
                case "check" -> check((Frame) given[0]);
                case "isNew" -> isNew.test((Frame) given[0]);
                case "owesTooMany" -> owesTooMany.test((Frame) given[0]);
                case "onFrame" -> take((Frame) given[0], (SealedBuffer) given[1]);
                default -> throw new AssertionError(method);
            });

    private Object check(Frame frame) throws IOException {
        if (refused.test(frame)) {
            throw new IOException("not allowed, as told");
        }
        return null;
    }

    private Object take(Frame frame, SealedBuffer body) throws IOException {
        frames.add(frame);
        bodies.add(body);
        if (frames.size() > failsAt) {
            throw new IOException("thrown, as told");
        }
        return null;
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        bodies.forEach(SealedBuffer::close);
        assertEquals(List.of(), ledger.open());
        memory.close();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
    }

    private BatchReader reader(MemorySource source) throws IOException {
        SettingsDraft draft = new SettingsDraft();
        draft.source = source;
        draft.security = Security.plaintext();
        PeerDirectory none = rank -> null;
        return new BatchReader(new LoopContext(draft.checked(0, 3, none), loop, null, () -> {}), () -> isOpen);
    }

    private SealedBuffer batch(Frame.Kind... kinds) {
        ByteBuffer bytes = ByteBuffer.allocate(kinds.length * FRAME);
        for (int i = 0; i < kinds.length; i++) {
            int length = kinds[i] == Frame.Kind.SKIP ? 0 : BODY;
            Frame.write(bytes, bytes.position(), kinds[i], 0, 7, 2, i, 0, length, 1, i, length, 0);
            if (length > 0) {
                bytes.put(bytes.position() + Frame.BYTES, (byte) i);
            }
            bytes.position(bytes.position() + Frame.BYTES + length);
        }
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            return builder.put(MemorySegment.ofBuffer(bytes.flip())).seal();
        }
    }

    private boolean read(SealedBuffer batch) throws IOException {
        try (batch) {
            return reader(memory).read(batch, peer);
        }
    }

    private long pinned(int index) {
        return bodies.get(index).pinnedBytes();
    }

    private static Frame.Kind[] kinds(Frame.Kind one, int of, Frame.Kind others, int number) {
        Frame.Kind[] kinds = new Frame.Kind[of + number];
        for (int i = 0; i < kinds.length; i++) {
            kinds[i] = i < of ? one : others;
        }
        return kinds;
    }

    @Test
    void messagesThatAreMostOfTheirBatchShareIt() throws Exception {
        assertTrue(read(batch(kinds(Frame.Kind.DIRECT, 4, Frame.Kind.BROADCAST, 0))));
        assertEquals(4, bodies.size());
        for (int i = 0; i < 4; i++) {
            assertEquals(4 * FRAME, pinned(i));
            assertEquals(i, frames.get(i).sequence());
            assertEquals(i, bodies.get(i).iovec().getByte(0));
        }
    }

    @Test
    void batchInPiecesIsReadAcrossThem() throws Exception {
        try (SealedBuffer whole = batch(kinds(Frame.Kind.DIRECT, 4, Frame.Kind.BROADCAST, 0));
                SealedBuffer first = whole.slice(0, FRAME + 7);
                SealedBuffer rest = whole.slice(FRAME + 7, 3 * FRAME - 7);
                SealedBuffer copy = rest.copy(memory)) {
            assertTrue(read(SealedBuffer.concat(first, copy)));
        }
        for (int i = 0; i < 4; i++) {
            assertEquals(i, frames.get(i).sequence());
            assertEquals(i, bodies.get(i).iovec().getByte(0));
        }
    }

    @Test
    void lastOneMayHaveNoBytes() throws Exception {
        assertTrue(read(batch(Frame.Kind.DIRECT, Frame.Kind.SKIP)));
        assertEquals(Frame.Kind.SKIP, frames.get(1).kind());
    }

    @Test
    void messageThatIsNotAllowedIsNotTakenNorThoseBehindIt() {
        refused = frame -> frame.sequence() == 1;
        assertThrows(IOException.class, () -> read(batch(kinds(Frame.Kind.DIRECT, 4, Frame.Kind.DIRECT, 0))));
        assertEquals(1, bodies.size());
    }

    @Test
    void copiesSayWhoseMessageTheyAre() throws Exception {
        tag = "peer 2";
        assertTrue(read(batch(kinds(Frame.Kind.DIRECT, 1, Frame.Kind.BROADCAST, 4))));
        assertEquals("peer 2", bodies.get(0).tag());
        SealedBuffer plain = bodies.get(1);
        assertSame(plain, BatchReader.tagged(plain, null));
        bodies.set(1, BatchReader.tagged(plain, "another"));
        assertFalse(plain.isOpen());
        assertEquals("another", bodies.get(1).tag());
    }

    @Test
    void fewMessagesBesideManyBroadcastsGetTheirOwnMemory() throws Exception {
        assertTrue(read(batch(kinds(Frame.Kind.DIRECT, 1, Frame.Kind.BROADCAST, 4))));
        assertEquals(BODY, pinned(0));
        assertEquals(5 * FRAME, pinned(1));
    }

    @Test
    void fewBroadcastsBesideManyMessagesGetTheirOwnMemory() throws Exception {
        assertTrue(read(batch(kinds(Frame.Kind.BROADCAST, 1, Frame.Kind.DIRECT, 4))));
        assertEquals(BODY, pinned(0));
        assertEquals(5 * FRAME, pinned(1));
    }

    @Test
    void halfOfABatchSharesIt() throws Exception {
        assertTrue(read(batch(kinds(Frame.Kind.DIRECT, 2, Frame.Kind.BROADCAST, 2))));
        for (int i = 0; i < 4; i++) {
            assertEquals(4 * FRAME, pinned(i));
        }
    }

    @Test
    void messagesBesideThoseThatWereThereBeforeGetTheirOwnMemory() throws Exception {
        isNew = frame -> frame.sequence() == 3;
        assertTrue(read(batch(kinds(Frame.Kind.DIRECT, 4, Frame.Kind.DIRECT, 0))));
        assertEquals(4 * FRAME, pinned(0), "it is dropped at once");
        assertEquals(BODY, pinned(3));
    }

    @Test
    void whatHasNoMemoryOfItsOwnSharesTheBatch() throws Exception {
        try (SealedBuffer batch = batch(kinds(Frame.Kind.DIRECT, 1, Frame.Kind.BROADCAST, 4))) {
            assertTrue(reader(byteSize -> {
                        throw new IllegalStateException("no memory, as told");
                    })
                    .read(batch, peer));
        }
        assertEquals(5 * FRAME, pinned(0));
    }

    @Test
    void restOfABatchIsClosedWhenOneIsNotTakenOrTheConnectionEnds() throws Exception {
        owesTooMany = frame -> frame.sequence() == 2;
        assertFalse(read(batch(kinds(Frame.Kind.BROADCAST, 4, Frame.Kind.DIRECT, 0))));
        assertEquals(2, bodies.size());
        isOpen = false;
        assertTrue(read(batch(kinds(Frame.Kind.DIRECT, 4, Frame.Kind.DIRECT, 0))));
        assertEquals(2, bodies.size());
    }

    @Test
    void restOfABatchIsClosedWhenAFrameBreaksTheProtocol() {
        failsAt = 1;
        assertThrows(IOException.class, () -> read(batch(kinds(Frame.Kind.DIRECT, 4, Frame.Kind.DIRECT, 0))));
        assertEquals(2, bodies.size());
    }

    @Test
    void batchThatIsNoneIsRefusedByWhatIsWrong() {
        IOException control = assertThrows(IOException.class, () -> read(batch(Frame.Kind.DIRECT, Frame.Kind.BATCH)));
        assertTrue(control.getMessage().startsWith("not a message of a batch: kind=BATCH"), control::getMessage);
        SealedBuffer whole = batch(Frame.Kind.DIRECT, Frame.Kind.DIRECT);
        IOException header = assertThrows(IOException.class, () -> {
            try (whole) {
                read(whole.slice(0, FRAME + 10));
            }
        });
        assertEquals("batch ends inside a header: at=" + FRAME + " length=" + (FRAME + 10), header.getMessage());
        SealedBuffer again = batch(Frame.Kind.DIRECT);
        IOException body = assertThrows(IOException.class, () -> {
            try (again) {
                read(again.slice(0, FRAME - 1));
            }
        });
        assertTrue(body.getMessage().endsWith("length=" + BODY + " left=" + (BODY - 1)), body::getMessage);
        assertEquals(0, bodies.size());
    }
}
