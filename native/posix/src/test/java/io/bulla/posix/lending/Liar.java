// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A borrower that speaks the protocol by hand, and says what it likes.
final class Liar implements AutoCloseable {

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment record = arena.allocate(SlabRecord.TO_BORROWER, 8);
    private final PosixSocket socket;
    private final List<Integer> files = new ArrayList<>();
    private int string = -1;

    private Liar(PosixSocket socket) {
        this.socket = socket;
    }

    /// Connected, and silent.
    static Liar silent(Path lender) throws PosixException {
        return new Liar(PosixSocket.connect(lender));
    }

    /// Greeted, with a string.
    static Liar greeted(Path lender) throws IOException {
        Liar liar = silent(lender);
        liar.say(SlabRecord.HELLO, SlabRecord.VERSION, 99);
        try (Rights rights = Rights.receive(SocketDoor.stream(liar.socket), liar.record)) {
            liar.string = rights.first();
            rights.handedOn();
        }
        return liar;
    }

    PosixSocket socket() {
        return socket;
    }

    void say(int slot, int generation, long slab) throws PosixException {
        MemorySegment said = arena.allocate(SlabRecord.TO_LENDER, 8);
        SlabRecord.giveBack(said, slot, generation, slab);
        Rights.send(SocketDoor.stream(socket), said);
    }

    void say(byte... bytes) throws PosixException {
        Rights.send(SocketDoor.stream(socket), arena.allocateFrom(java.lang.foreign.ValueLayout.JAVA_BYTE, bytes));
    }

    /// The next lease; the slabs before it are kept.
    SlabRecord receive() throws IOException {
        while (true) {
            try (Rights rights = Rights.receive(SocketDoor.stream(socket), record)) {
                SlabRecord said = SlabRecord.lent(record);
                if (said.slot() != SlabRecord.SLAB) {
                    return said;
                }
                files.add(rights.first());
                rights.handedOn();
            }
        }
    }

    /// The slabs that came.
    List<Integer> files() {
        return files;
    }

    /// Says that it has no mapping any more.
    void dropString() {
        if (string >= 0) {
            Call.current().close(string);
            string = -1;
        }
    }

    @Override
    public void close() {
        files.forEach(fd -> Call.current().close(fd));
        files.clear();
        dropString();
        socket.close();
    }
}
