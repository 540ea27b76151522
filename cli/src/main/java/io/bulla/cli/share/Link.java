// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.socket.PosixSocket;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Few bytes over a socket between `bulla share` and one of its processes.
final class Link {

    static final byte HELD = 'H';
    static final byte GO = 'G';
    static final byte VERIFIED = 'V';
    static final byte DIFFERS = 'X';

    private static final int MOST = 64;

    private final PosixSocket socket;
    private final int index;
    // not an arena per message: ending one stops every thread for a moment
    private final MemorySegment scratch = Arena.ofAuto().allocate(MOST);

    /// @param index of the process
    Link(PosixSocket socket, int index) {
        this.socket = socket;
        this.index = index;
    }

    int index() {
        return index;
    }

    PosixSocket socket() {
        return socket;
    }

    void send(byte... bytes) throws IOException {
        MemorySegment.copy(bytes, 0, scratch, JAVA_BYTE, 0, bytes.length);
        socket.moveAndSend(SealedBuffer.adopt(scratch.asSlice(0, bytes.length), () -> {}));
    }

    void sendLong(long value) throws IOException {
        scratch.set(JAVA_LONG_UNALIGNED, 0, value);
        socket.moveAndSend(SealedBuffer.adopt(scratch.asSlice(0, Long.BYTES), () -> {}));
    }

    byte receiveByte() throws IOException {
        return receive(1)[0];
    }

    byte[] receive(int length) throws IOException {
        MemorySegment target = scratch.asSlice(0, length);
        receiveInto(target);
        return target.toArray(JAVA_BYTE);
    }

    /// The first that a process says.
    static Link accepted(PosixSocket socket) throws IOException {
        return new Link(socket, (int) new Link(socket, 0).receiveLong());
    }

    long receiveLong() throws IOException {
        receiveInto(scratch.asSlice(0, Long.BYTES));
        return scratch.get(JAVA_LONG_UNALIGNED, 0);
    }

    void receiveInto(MemorySegment target) throws IOException {
        for (long done = 0; done < target.byteSize(); ) {
            long read = socket.receive(target.asSlice(done));
            if (read < 0) {
                throw new EOFException("connection ended: wanted=" + target.byteSize() + " read=" + done);
            }
            done += read;
        }
    }
}
