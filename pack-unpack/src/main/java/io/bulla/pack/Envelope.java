// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.UnpackException.Reason;
import java.io.EOFException;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.CRC32C;

/// A header before packed items, in a file or on a wire, that names their format and has checksums. It also stands
/// before bytes whose format only the reader knows, so that damage is seen.
///
/// ```java
/// import io.bulla.buffer.*;
/// import io.bulla.pack.*;
///
/// void main() {
///     try (ArenaSource memory = ArenaSource.create();
///             BufferBuilder builder = BufferBuilder.create(memory)) {
///         Packer.into(builder, WireFormat.PMIX_4).packString("launch");
///         try (SealedBuffer items = builder.seal();
///                 SealedBuffer file = Envelope.wrap(memory, WireFormat.PMIX_4, items)) {
///             IO.println(Envelope.of(file, 1 << 20).format().orElseThrow() + " in " + file.byteSize() + " bytes");
///         }
///     }
/// }
/// ```
///
/// ```text
/// PMIX_4 in 33 bytes
/// ```
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// |                   magic "BuEn", 42 75 45 6e                   |   0
/// |   version 1   |  format code  |d|   flags, 0  |  reserved, 0  |   4     code 0: none; d (0x80): described
/// |              length of the items in bytes, upper              |   8
/// |              length of the items in bytes, lower              |  12
/// |                      CRC32C of the items                      |  16
/// |                 CRC32C of the 20 bytes above                  |  20
/// |  items ...                                                    |  24
/// ```
///
/// All numbers big-endian. The header has a checksum of its own, so that a damaged length is seen before anybody
/// waits for that many bytes.
///
/// @param format how the items are packed, see [WireFormat#code()]; nothing: the reader has to know
/// @param length of the items in bytes
/// @param checksum CRC32C of the items
public record Envelope(Optional<WireFormat> format, long length, int checksum) {

    /// Bytes of the header.
    public static final int BYTES = 24;

    private static final int MAGIC = 0x4275456e;
    private static final int VERSION = 1;
    private static final int CHECKED_BYTES = 20;

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if the length is negative
    public Envelope {
        Objects.requireNonNull(format, "format");
        if (length < 0) {
            throw new IllegalArgumentException("length is negative: length=" + length);
        }
    }

    /// The items behind their header, as one buffer. The items are not copied.
    ///
    /// @param source where the memory of the header comes from
    /// @param format how the items are packed
    /// @param items stays the caller's
    /// @return a handle that its holder closes
    public static SealedBuffer wrap(MemorySource source, WireFormat format, SealedBuffer items) {
        return wrap(source, Optional.of(format), items);
    }

    /// Bytes behind their header, as [#wrap(MemorySource, WireFormat, SealedBuffer)], also if no format was said.
    ///
    /// @param source where the memory of the header comes from
    /// @param format how the bytes are packed; nothing: the reader has to know
    /// @param bytes stays the caller's
    /// @return a handle that its holder closes
    public static SealedBuffer wrap(MemorySource source, Optional<WireFormat> format, SealedBuffer bytes) {
        SealedBuffer whole = null;
        try (BufferBuilder header = BufferBuilder.ofCapacity(source, BYTES)) {
            header.put(around(format, bytes).header().array());
            try (SealedBuffer sealed = header.seal()) {
                whole = SealedBuffer.concat(sealed, bytes);
            }
            return whole;
        } catch (Throwable failure) {
            // the header's own handle may fail to close, after the whole was made
            if (whole != null) {
                whole.close();
            }
            throw failure;
        }
    }

    /// Reads the header alone, before the items have come.
    ///
    /// @param bytes the header and perhaps more
    /// @param maxLength the most bytes of items to take
    /// @return what it says
    /// @throws UnpackException if it is no header, damaged, of another version, or says too much
    public static Envelope ofHeader(IoVec bytes, long maxLength) {
        if (bytes.byteSize() < BYTES) {
            throw ByteCursor.failed(Reason.TRUNCATED, "envelope truncated", BYTES, bytes.byteSize(), 0);
        }
        int magic = bytes.get(ByteCursor.INT, 0);
        expect("not an envelope", MAGIC, magic, 0);
        expect("envelope damaged", crc(bytes.slice(0, CHECKED_BYTES)), bytes.get(ByteCursor.INT, CHECKED_BYTES), 0);
        int words = bytes.get(ByteCursor.INT, 4);
        if (words >>> 24 != VERSION) {
            throw ByteCursor.failed(Reason.MALFORMED, "unknown version of envelope", VERSION, words >>> 24, 4);
        }
        if ((words & 0xffff & ~(WireFormat.DESCRIBED << 8)) != 0) {
            throw ByteCursor.failed(
                    Reason.MALFORMED, "unknown flags", 0, words & 0xffff & ~(WireFormat.DESCRIBED << 8), 6);
        }
        Optional<WireFormat> format = WireFormat.ofMark(words >>> Byte.SIZE & 0xffff);
        if (format.isEmpty() && (words & 0xffff00) != 0) {
            throw ByteCursor.failed(Reason.MALFORMED, "unknown format", "0..5", words >>> 2 * Byte.SIZE & 0xff, 5);
        }
        long length = bytes.get(ByteCursor.LONG, 8);
        if (length < 0 || length > maxLength) {
            throw ByteCursor.failed(Reason.LIMIT, "too many bytes of items", "0.." + maxLength, length, 8);
        }
        return new Envelope(format, length, bytes.get(ByteCursor.INT, 16));
    }

    /// Reads the header and checks the items behind it.
    ///
    /// @param whole a header, its items, and nothing behind them
    /// @param maxLength the most bytes of items to take
    /// @return what the header says; [#items] has the items
    /// @throws UnpackException if the header is refused as in [#ofHeader], bytes are missing or too many, or the
    ///     items are damaged
    public static Envelope of(SealedBuffer whole, long maxLength) {
        IoVec bytes = whole.iovec();
        Envelope envelope = ofHeader(bytes, maxLength);
        long found = bytes.byteSize() - BYTES;
        if (found != envelope.length) {
            throw ByteCursor.failed(
                    found < envelope.length ? Reason.TRUNCATED : Reason.MALFORMED,
                    "length differs from the envelope's",
                    envelope.length,
                    found,
                    BYTES);
        }
        envelope.check(bytes.slice(BYTES, found));
        return envelope;
    }

    /// Writes items behind their header. They are not copied.
    ///
    /// @param channel a blocking channel, a file's for one
    /// @param format how the items are packed
    /// @param items stays the caller's
    /// @return bytes written, the header's included
    /// @throws IOException from the channel, or because it takes no more; a part may be written
    public static long write(WritableByteChannel channel, WireFormat format, SealedBuffer items) throws IOException {
        return write(channel, Optional.of(format), items);
    }

    /// Writes bytes behind their header, as [#write(WritableByteChannel, WireFormat, SealedBuffer)], also if no
    /// format was said.
    ///
    /// @param channel a blocking channel, a file's for one
    /// @param format how the bytes are packed; nothing: the reader has to know
    /// @param bytes stays the caller's
    /// @return bytes written, the header's included
    /// @throws IOException from the channel, or because it takes no more; a part may be written
    public static long write(WritableByteChannel channel, Optional<WireFormat> format, SealedBuffer bytes)
            throws IOException {
        writeFully(channel, around(format, bytes).header());
        // whatever the caller closes meanwhile
        try (SealedBuffer held = bytes.share()) {
            for (ByteBuffer view : held.iovec().lent().asByteBuffers()) {
                writeFully(channel, view);
            }
            return BYTES + held.byteSize();
        }
    }

    /// Reads a header, and then the items behind it into memory of their size. What stands behind them is left to
    /// the next reader.
    ///
    /// @param channel a blocking channel
    /// @param source where the memory comes from
    /// @param maxLength the most bytes of items to take; no memory is taken for more
    /// @return the items and what they are, to be closed
    /// @throws UnpackException if the header is refused as in [#ofHeader], or the items are damaged
    /// @throws EOFException if the channel ends before the items do
    /// @throws IOException from the channel
    public static Enveloped read(ReadableByteChannel channel, MemorySource source, long maxLength) throws IOException {
        Envelope envelope = readHeader(channel, source, maxLength);
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, envelope.length))) {
            SealedBuffer items = builder.readFully(channel, envelope.length).seal();
            try {
                envelope.check(items.iovec());
                return new Enveloped(envelope.format, items);
            } catch (Throwable damaged) {
                items.close();
                throw damaged;
            }
        }
    }

    private static Envelope readHeader(ReadableByteChannel channel, MemorySource source, long maxLength)
            throws IOException {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, BYTES);
                SealedBuffer header = builder.readFully(channel, BYTES).seal()) {
            return ofHeader(header.iovec(), maxLength);
        }
    }

    private static void writeFully(WritableByteChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                throw new IOException("channel takes no more: remaining=" + bytes.remaining());
            }
        }
    }

    /// The items of the buffer that this envelope was read from.
    ///
    /// @param whole that buffer
    /// @return a handle that its holder closes
    public SealedBuffer items(SealedBuffer whole) {
        return whole.slice(BYTES, length);
    }

    private static Envelope around(Optional<WireFormat> format, SealedBuffer items) {
        return new Envelope(format, items.byteSize(), crc(items.iovec()));
    }

    private ByteBuffer header() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES)
                .putInt(MAGIC)
                .put((byte) VERSION)
                .putShort(format.map(WireFormat::mark).orElse(0).shortValue())
                .put((byte) 0)
                .putLong(length)
                .putInt(checksum);
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), 0, CHECKED_BYTES);
        return bytes.putInt((int) crc.getValue()).flip();
    }

    private static int crc(IoVec bytes) {
        CRC32C crc = new CRC32C();
        for (ByteBuffer view : bytes.lent().asByteBuffers()) {
            crc.update(view);
        }
        bytes.verify();
        Reference.reachabilityFence(bytes);
        return (int) crc.getValue();
    }

    private void check(IoVec items) {
        expect("items damaged", checksum, crc(items), BYTES);
    }

    private static void expect(String what, int expected, int found, long offset) {
        if (expected != found) {
            throw ByteCursor.failed(
                    Reason.MALFORMED, what, Integer.toHexString(expected), Integer.toHexString(found), offset);
        }
    }
}
