// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.posix.PosixException;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.StreamSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/// The first words between a borrower and its lender: a token there, the string back, or why there is none.
final class BorrowerGreeting {

    private BorrowerGreeting() {}

    /// @param socket stays the caller's if this fails
    /// @return the string, with the socket
    static Lifeline say(Path lender, StreamSocket socket, long token) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(SlabRecord.TO_BORROWER, 8);
            SlabRecord.giveBack(record, SlabRecord.HELLO, SlabRecord.VERSION, token);
            greet(lender, socket, record);
            try (Rights rights = Rights.receive(socket, record)) {
                SlabRecord said = SlabRecord.lent(record);
                checkNotRefused(lender, said);
                if (said.slab() != SlabRecord.MAGIC
                        || said.slot() != SlabRecord.HELLO
                        || said.generation() != SlabRecord.VERSION) {
                    throw new SealRefusedException("not a lender of slabs: magic=0x" + Long.toHexString(said.slab())
                            + " version=" + said.generation());
                }
                Lifeline lifeline = new Lifeline(socket, new Descriptor(BorrowedSlabs.one(rights), "string"));
                rights.handedOn();
                return lifeline;
            }
        }
    }

    private static void greet(Path lender, StreamSocket socket, MemorySegment record) throws PosixException {
        try {
            Rights.send(socket, record.asSlice(0, SlabRecord.TO_LENDER));
        } catch (PosixException.PeerClosed closed) {
            // what it said before it closed is there
            try (Rights rights = Rights.tryReceive(socket, record)) {
                if (rights.bytes() == record.byteSize()) {
                    checkNotRefused(lender, SlabRecord.lent(record));
                }
            }
            throw closed;
        }
    }

    private static void checkNotRefused(Path lender, SlabRecord said) throws PosixException {
        if (said.slab() == SlabRecord.MAGIC && said.slot() == SlabRecord.REFUSED) {
            throw new PosixException(
                    "refused by the lender",
                    said.generation(),
                    "lender=" + lender + " lender-connections=" + said.offset() + " lender-descriptors-limit="
                            + said.length());
        }
    }
}
