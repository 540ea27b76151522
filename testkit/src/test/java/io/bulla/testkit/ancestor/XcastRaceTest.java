// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.ancestor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.PoisoningSource;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Why Bulla exists: one message, queued for three children, written to their sockets later.
///
/// Open MPI d310dd8c58 (2012).
///
/// The old buffer could only be looked at by taking it apart. The second child's send took the *shared* buffer
/// apart again, which moved the block, and the first child's send, still in the queue, was left with the
/// address of freed memory. No second thread is needed for that. The cure of 2012 was a copy per child; the
/// cure here is a buffer that cannot change.
@ExtendWith(NoOpenHandles.class)
class XcastRaceTest {

    private static final int CHILDREN = 3;
    private static final byte[] MESSAGE = message();

    /// Sends that wait for their sockets: what a child will be sent is looked up only when the socket is ready.
    private final List<Supplier<byte[]>> queue = new ArrayList<>();

    @Test
    void secondSendOfTheOldBufferFreesTheBytesOfTheFirst() {
        OpalBuffer shared = new OpalBuffer();
        shared.pack(MESSAGE);
        for (int child = 0; child < CHILDREN; child++) {
            queueOld(shared);
        }
        List<byte[]> wire = socketsAreReady();

        byte[] freed = new byte[MESSAGE.length];
        Arrays.fill(freed, PoisoningSource.POISON);
        assertArrayEquals(freed, wire.get(0), "child 0 is sent freed memory");
        assertArrayEquals(MESSAGE, wire.get(CHILDREN - 1), "only the last child is sent the message");
    }

    @Test
    void oldBufferIsSeenEmptyWhileAnotherSendLooksAtIt() {
        OpalBuffer shared = new OpalBuffer();
        shared.pack(MESSAGE);

        OpalBuffer.Unloaded otherSend = shared.unload();
        assertEquals(0, shared.bytesUsed());
        assertEquals(0, shared.unload().length(), "a send that comes now sends nothing");
        shared.load(otherSend);
        assertEquals(MESSAGE.length, shared.bytesUsed());
    }

    @Test
    void copyPerChildCuresItAndCostsACopyPerChild() {
        int copied = 0;
        for (int child = 0; child < CHILDREN; child++) {
            OpalBuffer own = new OpalBuffer();
            own.pack(MESSAGE);
            copied += own.bytesUsed();
            queueOld(own);
        }
        for (byte[] sent : socketsAreReady()) {
            assertArrayEquals(MESSAGE, sent);
        }
        assertEquals(CHILDREN * MESSAGE.length, copied);
    }

    @Test
    void sealedBufferOnTheSameScheduleSendsEveryChildTheMessage(MemorySource source) {
        try (SealedBuffer shared = BufferBuilder.create(source).put(MESSAGE).seal()) {
            long address = shared.iovec().region(0).address();
            for (int child = 0; child < CHILDREN; child++) {
                queueSealed(shared.share());
                assertEquals(MESSAGE.length, shared.byteSize(), "looking at it does not change it");
            }
            assertEquals(address, shared.iovec().region(0).address());
        }
        for (byte[] sent : socketsAreReady()) {
            assertArrayEquals(MESSAGE, sent);
        }
    }

    @Test
    void sealedBufferLooksTheSameToEverybodyAtOnce(MemorySource source) {
        try (SealedBuffer shared = BufferBuilder.create(source).put(MESSAGE).seal()) {
            ByteBuffer[] halfWritten = shared.iovec().asByteBuffers();
            halfWritten[0].position(100);
            assertEquals(MESSAGE.length, shared.iovec().asByteBuffers()[0].remaining());
            assertTrue(shared.iovec().mismatch(IoVec.of(MemorySegment.ofArray(MESSAGE))) == -1);
        }
    }

    private void queueOld(OpalBuffer buffer) {
        OpalBuffer.Unloaded taken = buffer.unload();
        buffer.load(taken);
        queue.add(() -> Arrays.copyOf(taken.block().bytes, taken.length() - 1));
    }

    private void queueSealed(SealedBuffer handle) {
        queue.add(() -> {
            try (handle) {
                byte[] sent = new byte[(int) handle.byteSize()];
                handle.iovec().copyTo(0, MemorySegment.ofArray(sent), sent.length);
                return sent;
            }
        });
    }

    private List<byte[]> socketsAreReady() {
        return queue.stream().map(Supplier::get).toList();
    }

    private static byte[] message() {
        byte[] bytes = new byte[300];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i % 100);
        }
        return bytes;
    }
}
