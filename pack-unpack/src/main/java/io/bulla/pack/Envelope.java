package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.UnpackException.Reason;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// What stands before packed items in a file or on a wire, so that bytes tell what they are.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// |                   magic "BuEn", 42 75 45 6e                   |   0
/// |   version 1   |  format code  |d|   flags, 0  |  reserved, 0  |   4     d (0x80): described
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
/// @param format how the items are packed, see [WireFormat#code()]
/// @param length of the items in bytes
/// @param checksum CRC32C of the items
public record Envelope(WireFormat format, long length, int checksum) {

    /// Bytes of the header.
    public static final int BYTES = 24;

    private static final int MAGIC = 0x4275456e;
    private static final int VERSION = 1;
    private static final int DESCRIBED = 0x80;
    private static final int CHECKED_BYTES = 20;

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if the length is negative
    public Envelope {
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
        try (BufferBuilder header = BufferBuilder.ofCapacity(source, BYTES)) {
            new Envelope(format, items.byteSize(), crc(items.iovec())).put(header);
            try (SealedBuffer sealed = header.seal()) {
                return SealedBuffer.concat(sealed, items);
            }
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
        if ((words & 0xffff & ~(DESCRIBED << 8)) != 0) {
            throw ByteCursor.failed(Reason.MALFORMED, "unknown flags", 0, words & 0xffff & ~(DESCRIBED << 8), 6);
        }
        int code = words >>> 16 & 0xff;
        WireFormat format = WireFormat.ofCode(code, (words & DESCRIBED << 8) != 0)
                .orElseThrow(() -> ByteCursor.failed(Reason.MALFORMED, "unknown format", "1..5", code, 5));
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
        expect("items damaged", envelope.checksum, crc(bytes.slice(BYTES, found)), BYTES);
        return envelope;
    }

    /// The items of the buffer that this envelope was read from.
    ///
    /// @param whole that buffer
    /// @return a handle that its holder closes
    public SealedBuffer items(SealedBuffer whole) {
        return whole.slice(BYTES, length);
    }

    private void put(BufferBuilder header) {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES)
                .putInt(MAGIC)
                .put((byte) VERSION)
                .put((byte) format.code())
                .put((byte) (format.described() ? DESCRIBED : 0))
                .put((byte) 0)
                .putLong(length)
                .putInt(checksum);
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), 0, CHECKED_BYTES);
        header.put(bytes.putInt((int) crc.getValue()).array());
    }

    private static int crc(IoVec bytes) {
        CRC32C crc = new CRC32C();
        for (ByteBuffer view : bytes.asByteBuffers()) {
            crc.update(view);
        }
        Reference.reachabilityFence(bytes);
        return (int) crc.getValue();
    }

    private static void expect(String what, int expected, int found, long offset) {
        if (expected != found) {
            throw ByteCursor.failed(
                    Reason.MALFORMED, what, Integer.toHexString(expected), Integer.toHexString(found), offset);
        }
    }
}
