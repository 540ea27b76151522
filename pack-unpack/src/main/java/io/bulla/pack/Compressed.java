// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.iovec.IoVec;
import io.bulla.pack.UnpackException.Reason;
import io.bulla.pack.text.MalformedTextException;
import io.bulla.pack.text.Utf8;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/// Compresses and inflates the content of a [io.bulla.pack.value.DataType#COMPRESSED_STRING] or
/// [io.bulla.pack.value.DataType#COMPRESSED_BYTE_OBJECT]: PMIx sends the bytes as they are, and leaves both to its
/// users.
///
/// A peer of PMIx 5.0.10 or 6.1 may send one in place of a string of 4096 bytes or more. Older ones never do, and
/// write to a wrong address when they inflate a string: do not send them one.
///
/// ```
/// size    32 bits in the sender's byte order: bytes before compression, no terminating zero
/// stream  zlib, RFC 1950
/// ```
///
/// Source: PMIx 4.2, `src/mca/pcompress/zlib`. The byte order is this machine's here, both ways, as it is there:
/// nothing tells another.
public final class Compressed {

    /// Deflate cannot make more out of a byte (RFC 1951: 258 bytes in two bits).
    private static final int MOST_GROWTH = 1032;

    // what every JVM can make
    private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

    private Compressed() {}

    /// Compresses text.
    ///
    /// @param text any that C can hold
    /// @return what to pack
    /// @throws IllegalArgumentException if the text holds U+0000 or half a surrogate pair
    public static IoVec of(String text) {
        Utf8.byteSize(text, false);
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /// Compresses bytes.
    ///
    /// @param bytes any number
    /// @return what to pack
    public static IoVec of(byte[] bytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.nativeOrder())
                .putInt(bytes.length)
                .array());
        // as hard as PMIx does
        try (Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION)) {
            deflater.setInput(bytes);
            deflater.finish();
            byte[] part = new byte[8192];
            while (!deflater.finished()) {
                out.write(part, 0, deflater.deflate(part));
            }
        }
        return IoVec.of(MemorySegment.ofArray(out.toByteArray()));
    }

    /// Inflates text.
    ///
    /// @param compressed what was unpacked
    /// @param limits how many bytes it may have, as `maxStringBytes`
    /// @return the text
    /// @throws UnpackException if it is more, or anything but a size and that much compressed UTF-8
    public static String text(IoVec compressed, Limits limits) {
        byte[] bytes = bytes(compressed, limits);
        try {
            return Utf8.decoded(Arrays.copyOf(bytes, bytes.length + 1), false);
        } catch (MalformedTextException malformed) {
            throw new UnpackException(malformed, 0);
        }
    }

    /// Inflates bytes.
    ///
    /// @param compressed what was unpacked
    /// @param limits how many it may be, as `maxStringBytes`, for they are not a view
    /// @return the bytes
    /// @throws UnpackException if they are more, or anything but a size and that much compressed, or a stream of
    ///     more bytes than so many can become
    public static byte[] bytes(IoVec compressed, Limits limits) {
        long streamBytes = compressed.byteSize() - Integer.BYTES;
        if (streamBytes < 0) {
            throw new UnpackException(
                    Reason.TRUNCATED, "no size before compressed bytes", Integer.BYTES, compressed.byteSize(), 0);
        }
        ByteBuffer head = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
        compressed.copyTo(0, MemorySegment.ofBuffer(head), Integer.BYTES);
        long announced = head.getInt(0) & 0xffff_ffffL;
        if (announced > limits.maxStringBytes()) {
            throw new UnpackException(
                    Reason.LIMIT, "inflated size out of range", "0.." + limits.maxStringBytes(), announced, 0);
        }
        if (announced / MOST_GROWTH > streamBytes) {
            throw malformed("no stream is that dense", "0.." + streamBytes * MOST_GROWTH, announced);
        }
        long most = Math.min(compressedAtMost(limits.maxStringBytes()), LARGEST_ARRAY);
        if (streamBytes > most) {
            throw new UnpackException(Reason.LIMIT, "compressed bytes out of range", "0.." + most, streamBytes, 0);
        }
        byte[] stream = new byte[(int) streamBytes];
        compressed.copyTo(Integer.BYTES, MemorySegment.ofArray(stream), stream.length);
        return inflated(stream, new byte[(int) announced]);
    }

    /// What zlib makes of bytes that do not shrink: its `compressBound`.
    private static long compressedAtMost(long bytes) {
        return bytes + (bytes >> 12) + (bytes >> 14) + (bytes >> 25) + 13;
    }

    private static byte[] inflated(byte[] stream, byte[] target) {
        try (Inflater inflater = new Inflater()) {
            inflater.setInput(stream);
            int size = inflater.inflate(target);
            // an empty target, or the checksum behind a full one
            if (!inflater.finished() && inflater.inflate(new byte[1]) > 0) {
                throw malformed("more bytes than announced", target.length, "more");
            }
            if (!inflater.finished() || size < target.length) {
                throw malformed("compressed bytes end early", target.length, size);
            }
            if (inflater.getRemaining() > 0) {
                throw malformed("bytes behind the compressed ones", 0, inflater.getRemaining());
            }
            return target;
        } catch (DataFormatException failure) {
            throw malformed("not a zlib stream", "RFC 1950", failure.getMessage());
        }
    }

    private static UnpackException malformed(String what, Object expected, @Nullable Object found) {
        return new UnpackException(Reason.MALFORMED, what, expected, found, 0);
    }
}
