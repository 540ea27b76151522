// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.memfd.SealedFileHandoff;
import io.bulla.posix.socket.PosixSocket;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// The side that messages are handed to. It sleeps in the kernel until one is there.
final class Taking implements AutoCloseable {

    private final Arena arena = Arena.ofShared();
    private final ArenaSource copies = ArenaSource.create(MemoryBudget.unlimited(), null);
    private final PosixSocket socket;
    private final SlabBorrower borrower;
    private final Path path;
    private final Map<Integer, MemorySegment> mapped = new HashMap<>();
    private MemorySegment landing = MemorySegment.NULL;

    /// @param socket of the other side
    /// @param lender of the other side
    Taking(Path socket, Path lender, int index) throws IOException {
        this.path = socket;
        this.borrower = SlabBorrower.connect(lender, index, copies, Long.MAX_VALUE);
        this.socket = PosixSocket.connect(socket);
        try (BufferBuilder name = BufferBuilder.ofCapacity(copies, 1)) {
            this.socket.moveAndSend(name.put(new byte[] {(byte) index}).seal());
        }
    }

    /// What the other side of a socket is called.
    static int index(PosixSocket socket) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(1);
            receive(socket, name);
            return name.get(ValueLayout.JAVA_BYTE, 0);
        }
    }

    /// Waits for a message, and looks at it.
    ///
    /// @param looked run once that is done, before the message is let go of
    void take(Way way, Look look, Runnable looked) throws IOException {
        switch (way) {
            case SLAB -> {
                try (SealedBuffer message = borrower.receive()) {
                    look.at(message);
                    looked.run();
                }
            }
            case SEAL -> {
                try (SealedFileHandoff seal = SealedFileHandoff.receiveFrom(socket, Long.MAX_VALUE);
                        SealedBuffer message = seal.share()) {
                    look.at(message);
                    looked.run();
                }
            }
            case BYTES -> {
                MemorySegment message = landing(look.bytes());
                receive(socket, message);
                look.at(message);
                looked.run();
            }
            case THERE -> {
                MemorySegment message = mapped(look);
                receive(socket, landing(Long.BYTES));
                look.at(message);
                looked.run();
            }
        }
    }

    private MemorySegment mapped(Look look) throws IOException {
        MemorySegment there = mapped.get(look.bytes());
        if (there == null) {
            try (FileChannel file = FileChannel.open(look.file(path))) {
                there = file.map(FileChannel.MapMode.READ_ONLY, 0, look.bytes(), arena);
            }
            mapped.put(look.bytes(), there);
        }
        return there;
    }

    private MemorySegment landing(long bytes) {
        if (landing.byteSize() < bytes) {
            landing = arena.allocate(bytes, 64);
        }
        return landing.asSlice(0, bytes);
    }

    private static void receive(PosixSocket socket, MemorySegment target) throws IOException {
        for (long done = 0; done < target.byteSize(); ) {
            long read = socket.receive(target.asSlice(done));
            if (read < 0) {
                throw new EOFException("connection ended: read=" + done + " wanted=" + target.byteSize());
            }
            done += read;
        }
    }

    @Override
    public void close() {
        borrower.close();
        socket.close();
        copies.close();
        arena.close();
    }
}
