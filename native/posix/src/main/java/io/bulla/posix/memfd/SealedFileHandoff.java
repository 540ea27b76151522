// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Unmapper;
import io.bulla.posix.internal.memory.ReceivedFile;
import io.bulla.posix.internal.memory.SealedFile;
import io.bulla.posix.internal.stream.Discard;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.socket.PosixSocket;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A buffer on its way to other processes of this host: the seal travels, as a descriptor, and not the bytes.
/// The cost of a hand-over does not depend on the size.
///
/// ```
/// this process:   share(buffer, ...) --sendTo(socket)--> as often as there are receivers
/// another one:    receiveFrom(socket) --> buffer(), an ordinary one; sendTo(next), if it relays
/// ```
///
/// The receiver trusts the kernel and not the sender: it checks the seals before it maps anything, so no process,
/// the sender included, can change the bytes that it checks and then reads.
///
/// **The whole file is visible.** A slice is handed over as offset and length in its file; the receiver maps
/// what it was given, but its descriptor opens all of the buffer that the slice is of. To show only a slice,
/// give a `copy()` of it.
///
/// The message, 64 bytes, big-endian, over a stream that other messages may use before and after:
///
/// ```
///  0 magic "BSEA"  4 has digest, 0 or 1  8 format  16 offset in the file  24 length  32 SHA-256, or zeros
/// ```
public final class SealedFileHandoff implements AutoCloseable {

    private static final int MAGIC = 0x42534541;
    private static final long HEADER = 64;
    private static final int DIGEST = 32;
    private static final long PATIENCE_NANOS = 1_000_000_000;
    private static final ValueLayout.OfInt INT = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

    private final SealedBuffer buffer;
    private final SealedFile file;
    private final long offset;
    private final long format;
    // null if there is none
    private final byte @Nullable [] digest;

    private SealedFileHandoff(
            SealedBuffer buffer, SealedFile file, long offset, long format, byte @Nullable [] digest) {
        this.buffer = buffer;
        this.file = file;
        this.offset = offset;
        this.format = format;
        this.digest = digest;
    }

    /// A buffer to be handed over, once or often, as [#move(SealedBuffer, long, MemfdSource)]; the caller keeps its
    /// handle.
    ///
    /// @param buffer stays open, and the caller's: it may be closed as soon as this returns
    /// @param format what the bytes mean, for the receiver; Bulla does not look at it
    /// @param copies where the memory of a copy comes from
    /// @return to be closed once the last hand-over has returned; receivers have handles of their own
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory for a copy
    public static SealedFileHandoff share(SealedBuffer buffer, long format, MemfdSource copies) {
        return move(buffer.share(), format, copies);
    }

    /// A buffer to be handed over, once or often.
    ///
    /// A buffer of one memory file is shared as it is. Any other one, of several regions or of another source, is
    /// copied into one, here and once; the copy is counted in [io.bulla.iovec.CopyTally].
    ///
    /// @param handle this object's from now on, and closed when this returns, also if it fails
    /// @param format what the bytes mean, for the receiver; Bulla does not look at it
    /// @param copies where the memory of a copy comes from
    /// @return to be closed once the last hand-over has returned; receivers have handles of their own
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory for a copy
    public static SealedFileHandoff move(SealedBuffer handle, long format, MemfdSource copies) {
        SealedFileHandoff made = null;
        boolean isClosed = false;
        try {
            try (handle) {
                made = flatOrCopied(handle, format, copies);
            }
            isClosed = true;
            return made;
        } finally {
            // a listener or a release that throws at the close of the handle: there is no hand-over
            if (made != null && !isClosed) {
                made.close();
            }
        }
    }

    private static SealedFileHandoff flatOrCopied(SealedBuffer handle, long format, MemfdSource copies) {
        MemorySegment whole = flat(handle.iovec());
        SealedFile file = whole == null ? null : SealedFile.of(whole);
        if (whole != null && file != null) {
            return new SealedFileHandoff(handle.move(), file, file.offsetOf(whole), format, null);
        }
        if (handle.byteSize() == 0) {
            return empty(format, copies);
        }
        SealedBuffer copy = handle.copy(copies);
        return new SealedFileHandoff(copy, sealedFile(copy.iovec().region(0)), 0, format, null);
    }

    /// The same with a digest (SHA-256) of the bytes, which every receiver can [#verify()]. It takes its time,
    /// once: every byte is read.
    ///
    /// @return in place of this one, which is closed, also if this fails
    /// @throws io.bulla.buffer.ReleasedBufferException if this is closed
    public SealedFileHandoff moveWithDigest() {
        try (this) {
            byte[] computed = sha256();
            return new SealedFileHandoff(buffer.move(), file, offset, format, computed);
        }
    }

    /// Hands it over. If only a part of the message goes out, the stream is broken, as after a
    /// [PosixSocket#moveAndSend]. The receiver may be slow: what it needs is in the socket when this returns.
    ///
    /// @param to a unix socket
    /// @throws PosixException.PeerClosed if the peer is gone
    /// @throws PosixException if the socket is closed, or the system refuses
    /// @throws IllegalArgumentException if it is no unix socket: descriptors travel over these only
    /// @throws io.bulla.buffer.ReleasedBufferException if this is closed
    public void sendTo(PosixSocket to) throws PosixException {
        if (!SocketDoor.stream(to).isUnix()) {
            throw new IllegalArgumentException("descriptors travel over unix sockets only: " + to);
        }
        // a handle of the send's own: the file stays open until it has left
        try (SealedBuffer held = buffer.share();
                Arena arena = Arena.ofConfined()) {
            MemorySegment header = arena.allocate(HEADER, 8);
            header.set(INT, 0, MAGIC);
            header.set(INT, 4, digest == null ? 0 : 1);
            header.set(LONG, 8, format);
            header.set(LONG, 16, offset);
            header.set(LONG, 24, held.byteSize());
            if (digest != null) {
                MemorySegment.copy(digest, 0, header, JAVA_BYTE, HEADER - DIGEST, DIGEST);
            }
            int fd = file.descriptor().enter("sendmsg");
            try {
                Rights.send(SocketDoor.stream(to), header, fd);
            } finally {
                file.descriptor().leave();
            }
        }
    }

    /// Waits for a hand-over, and maps what came, read-only.
    ///
    /// It is refused unless exactly one descriptor came, of a memory file with the seals against writing,
    /// shrinking and growing, that is long enough. The digest, if there is one, is not looked at: see
    /// [#verify()]. A file with holes takes memory of this process when it is read, up to `limit`; they are booked
    /// in [MemoryBudget#ofProcess()].
    ///
    /// @param from a unix socket
    /// @param limit the most bytes to accept
    /// @return to be closed; its buffer is unmapped with the last handle on it
    /// @throws SealRefusedException if what came is not a sealed buffer, or its holes do not fit into the budget;
    ///     the message was read whole, so that the next one can be received
    /// @throws EOFException if the peer closes, before a hand-over or in the middle of it
    /// @throws IOException if the system refuses; nothing stays open
    public static SealedFileHandoff receiveFrom(PosixSocket from, long limit) throws IOException {
        return receiveFrom(from, limit, MemoryBudget.ofProcess());
    }

    /// The same with a budget of the caller's.
    ///
    /// @param from a unix socket
    /// @param limit the most bytes to accept
    /// @param budget booked for the holes of the part that is mapped, until it is unmapped: the sender has taken
    ///     no memory for them, so reading them takes this process's. A file without holes books nothing
    /// @return to be closed; its buffer is unmapped with the last handle on it
    /// @throws SealRefusedException if what came is not a sealed buffer, or its holes do not fit into the budget;
    ///     the message was read whole, so that the next one can be received
    /// @throws EOFException if the peer closes, before a hand-over or in the middle of it
    /// @throws IOException if the system refuses; nothing stays open
    public static SealedFileHandoff receiveFrom(PosixSocket from, long limit, MemoryBudget budget) throws IOException {
        // before there is one more: a process has few of both
        Unmapper.MAPPINGS.keepUp();
        Discard.checkNotStuck(PATIENCE_NANOS);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment header = arena.allocate(HEADER, 8);
            try (Rights rights = Rights.receive(SocketDoor.stream(from), header)) {
                return accept(header, rights, limit, budget);
            }
        }
    }

    /// Compares the bytes with the digest that came with them. Every byte is read.
    ///
    /// @throws SealRefusedException if they differ
    /// @throws IllegalStateException if there is no digest
    /// @throws io.bulla.buffer.ReleasedBufferException if this is closed
    public void verify() throws SealRefusedException {
        if (digest == null) {
            throw new IllegalStateException("no digest to verify: byteSize=" + buffer.byteSize());
        }
        byte[] computed = sha256();
        if (!Arrays.equals(digest, computed)) {
            throw new SealRefusedException(
                    "digest of other bytes: wanted=" + HexFormat.of().formatHex(digest) + " computed="
                            + HexFormat.of().formatHex(computed));
        }
    }

    /// A handle on the buffer, for another holder.
    ///
    /// @return a handle that its holder closes, before or after this is closed
    /// @throws io.bulla.buffer.ReleasedBufferException if this is closed
    public SealedBuffer share() {
        return buffer.share();
    }

    /// The format of the bytes, as the sender said.
    ///
    /// @return any number
    public long format() {
        return format;
    }

    /// The digest of the bytes, as the sender said.
    ///
    /// @return SHA-256 in hexadecimal digits; nothing if the sender gave none
    public Optional<String> digest() {
        return Optional.ofNullable(digest).map(HexFormat.of()::formatHex);
    }

    /// Gives up this one's handle. Again is harmless.
    @Override
    public void close() {
        buffer.close();
    }

    @Override
    public String toString() {
        return "SealedFileHandoff[" + buffer + " format=" + format + " offset=" + offset + "]";
    }

    private static SealedFileHandoff accept(MemorySegment header, Rights rights, long limit, MemoryBudget budget)
            throws IOException {
        if (header.get(INT, 0) != MAGIC || header.get(INT, 4) >>> 1 != 0) {
            throw new SealRefusedException("not a hand-over of a seal: magic=0x"
                    + Integer.toHexString(header.get(INT, 0)) + " digest=" + header.get(INT, 4));
        }
        if (rights.truncated()) {
            // there was room for as many as one message can have: it is this process that may open no more
            throw CallFailure.of("recvmsg", Errno.EMFILE.number(), "descriptors=" + rights.count());
        }
        if (rights.count() != 1) {
            throw new SealRefusedException("a seal comes with one descriptor: descriptors=" + rights.count());
        }
        long offset = header.get(LONG, 16);
        long length = header.get(LONG, 24);
        if (length < 0 || length > limit) {
            throw new SealRefusedException("buffer over the limit: length=" + length + " limit=" + limit);
        }
        byte @Nullable [] digest = null;
        if (header.get(INT, 4) == 1) {
            digest = header.asSlice(HEADER - DIGEST).toArray(JAVA_BYTE);
        }
        SealedFile file = ReceivedFile.open(new Descriptor(rights.first(), "memfd"), offset, length, budget);
        rights.handedOn();
        return adopt(file, offset, length, header.get(LONG, 8), digest);
    }

    private static SealedFileHandoff adopt(
            SealedFile file, long offset, long length, long format, byte @Nullable [] digest) {
        SealedBuffer buffer = ReceivedFile.buffer(file, offset, length);
        SealedFileHandoff seal = null;
        try {
            seal = new SealedFileHandoff(buffer, file, offset, format, digest);
            return seal;
        } finally {
            if (seal == null) {
                buffer.close();
            }
        }
    }

    /// A builder without a byte has no region; this file has no byte.
    private static SealedFileHandoff empty(long format, MemfdSource source) {
        Region region = source.allocate(1);
        MemorySegment none;
        try {
            none = source.seal(region, 0);
        } catch (Throwable failure) {
            region.release();
            throw failure;
        }
        return new SealedFileHandoff(SealedBuffer.adopt(none, region::release), sealedFile(none), 0, format, null);
    }

    /// The file behind memory of a [MemfdSource].
    private static SealedFile sealedFile(MemorySegment memory) {
        return Objects.requireNonNull(SealedFile.of(memory), "sealed file");
    }

    /// The only region with bytes, or null if there is none, or several.
    private static @Nullable MemorySegment flat(IoVec bytes) {
        return bytes.regionCount() == 1 ? bytes.region(0) : null;
    }

    private byte[] sha256() {
        IoVec bytes = buffer.iovec();
        try {
            MessageDigest digester = MessageDigest.getInstance("SHA-256");
            for (var view : bytes.lent().asByteBuffers()) {
                digester.update(view);
            }
            return digester.digest();
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new AssertionError(everyJdkHasIt);
        } finally {
            Reference.reachabilityFence(bytes);
        }
    }
}
