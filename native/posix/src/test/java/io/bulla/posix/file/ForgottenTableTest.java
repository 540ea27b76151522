// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.FixedBufferTables;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

@Needs(value = Piece.IO_URING, by = FixedBufferTables.class)
class ForgottenTableTest {

    /// A handle that nothing reaches may be healed, so the kernel's reach is kept for it.
    @Test
    void forgottenTableStaysReachableWhileTheKernelWrites() throws Exception {
        PosixSocket[] pair = PosixSocket.unixPair();
        try (Arena arena = Arena.ofConfined();
                PosixSocket here = pair[0];
                PosixSocket _ = pair[1]) {
            WeakReference<FixedBufferTable> forgotten = writesToAStuckPeer(here, arena.allocate(1 << 20));
            for (int i = 0; i < 5; i++) {
                System.gc();
            }
            FixedBufferTable table = forgotten.get();
            assertNotNull(table);
            table.close();
        }
    }

    private static WeakReference<FixedBufferTable> writesToAStuckPeer(PosixSocket here, MemorySegment bytes)
            throws PosixException {
        FixedBufferTable table = FixedBufferTable.open(1);
        FixedBufferOperation write;
        do {
            write = table.writePlain(
                    SocketDoor.stream(here).descriptor(), 0, bytes.address(), (int) bytes.byteSize(), () -> {});
            table.progress(0);
        } while (write.isDone());
        return new WeakReference<>(table);
    }
}
