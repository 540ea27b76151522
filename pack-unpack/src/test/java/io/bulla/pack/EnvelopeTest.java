// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.Generation;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class EnvelopeTest {

    private static final byte[] CHECK = "123456789".getBytes(StandardCharsets.US_ASCII);

    /// 0xe3069283 is the check value of CRC-32C in every catalogue.
    @Test
    void headerIsAsTheRulerShows() {
        assertEquals(
                "4275456e" + "01048000" + "0000000000000009" + "e3069283"
                        + headerCrc("4275456e010480000000000000000009e3069283")
                        + HexFormat.of().formatHex(CHECK),
                HexFormat.of().formatHex(wrapped(WireFormat.PMIX_4_DESCRIBED, CHECK)));
    }

    /// Memory that is used again is not taken out of use by a write.
    @Test
    void writeLeavesNoRawViewBehind() throws IOException {
        Generation stamp = new Generation();
        List<Generation.End> ends = new ArrayList<>();
        try (Arena arena = Arena.ofShared()) {
            try (SealedBuffer items = SealedBuffer.adopt(arena.allocate(64), stamp, () -> ends.add(stamp.end()))) {
                assertEquals(
                        88, Envelope.write(Channels.newChannel(new ByteArrayOutputStream()), WireFormat.PMIX_4, items));
            }
            assertEquals(List.of(Generation.End.FREE), ends);
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyFormatIsReadBack(WireFormat format) {
        try (SealedBuffer whole = Packed.cut(wrapped(format, CHECK), 3, 11, 26)) {
            Envelope envelope = Envelope.of(whole, 9);
            assertEquals(new Envelope(Optional.of(format), 9, 0xe3069283), envelope);
            try (SealedBuffer items = envelope.items(whole)) {
                assertEquals(Packed.vector(CHECK), items.iovec());
            }
        }
    }

    @Test
    void bytesNeedNoFormat(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("bytes");
        try (SealedBuffer bytes = Packed.sealed(CHECK);
                SealedBuffer whole = Envelope.wrap(Packed.SOURCE, Optional.empty(), bytes);
                FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            assertEquals(
                    "4275456e" + "01000000" + "0000000000000009" + "e3069283",
                    HexFormat.of().formatHex(Packed.bytes(whole.iovec()), 0, 20));
            assertEquals(new Envelope(Optional.empty(), 9, 0xe3069283), Envelope.of(whole, 9));
            assertEquals(33, Envelope.write(out, Optional.empty(), bytes));
        }
        try (FileChannel in = FileChannel.open(file);
                Enveloped read = Envelope.read(in, Packed.SOURCE, 9)) {
            assertEquals(Optional.empty(), read.format());
            assertEquals(Packed.vector(CHECK), read.items().iovec());
            assertEquals(
                    "no format was said: bytes=9",
                    assertThrows(IllegalStateException.class, () -> read.unpacker(Limits.DEFAULT))
                            .getMessage());
        }
    }

    @Test
    void codesAreForGood() {
        assertEquals(1, WireFormat.OPAL_DSS.code());
        assertEquals(2, WireFormat.OPAL_DSS_2012.code());
        assertEquals(3, WireFormat.PMIX_3.code());
        assertEquals(4, WireFormat.PMIX_4.code());
        assertEquals(5, WireFormat.PMIX_4_NATIVE.code());
        for (WireFormat format : WireFormat.values()) {
            assertEquals(
                    format, WireFormat.ofCode(format.code(), format.described()).orElseThrow());
            assertEquals(
                    !format.described(), format.described(!format.described()).described());
            assertEquals(format.code(), format.described(!format.described()).code());
        }
    }

    @Test
    void itemsAreNotCopied() {
        try (SealedBuffer items = Packed.sealed(CHECK);
                SealedBuffer whole = Envelope.wrap(Packed.SOURCE, WireFormat.PMIX_4, items)) {
            assertEquals(
                    items.iovec().region(0).address(), whole.iovec().region(1).address());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "42756c6101048000000000000000000000000000 | not an envelope: expected=4275456e found=42756c61 offset=0",
                "4275456e02048000000000000000000000000000 | unknown version of envelope: expected=1 found=2 offset=4",
                "4275456e01048100000000000000000000000000 | unknown flags: expected=0 found=256 offset=6",
                "4275456e01048001000000000000000000000000 | unknown flags: expected=0 found=1 offset=6",
                "4275456e01068000000000000000000000000000 | unknown format: expected=0..5 found=6 offset=5",
                "4275456e01008000000000000000000000000000 | unknown format: expected=0..5 found=0 offset=5",
                "4275456e01048000000000000000006500000000 | too many bytes of items: expected=0..100 found=101 offset=8",
                "4275456e01048000ffffffffffffffff00000000 | too many bytes of items: expected=0..100 found=-1 offset=8",
                "4275456e01048000000000000000000100000000 | length differs from the envelope's: expected=1 found=0 offset=24",
                "4275456e01048000000000000000000000000001 | items damaged: expected=1 found=0 offset=24",
            })
    void headerThatCannotBeIsRefused(String header, String message) {
        byte[] bytes = Packed.ofHex(header + headerCrc(header));
        try (SealedBuffer whole = Packed.sealed(bytes)) {
            assertEquals(
                    message,
                    assertThrows(UnpackException.class, () -> Envelope.of(whole, 100))
                            .getMessage());
        }
    }

    @Test
    void everyDamagedByteIsSeen() {
        byte[] whole = wrapped(WireFormat.OPAL_DSS, CHECK);
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 0x10;
            try (SealedBuffer buffer = Packed.sealed(damaged)) {
                assertThrows(UnpackException.class, () -> Envelope.of(buffer, 100), "byte " + at);
            }
            try (SealedBuffer buffer = Packed.sealed(Arrays.copyOf(whole, at))) {
                UnpackException.Reason reason = assertThrows(UnpackException.class, () -> Envelope.of(buffer, 100))
                        .reason();
                assertEquals(UnpackException.Reason.TRUNCATED, reason);
            }
        }
        try (SealedBuffer buffer = Packed.sealed(Arrays.copyOf(whole, whole.length + 1))) {
            assertEquals(
                    "length differs from the envelope's: expected=9 found=10 offset=24",
                    assertThrows(UnpackException.class, () -> Envelope.of(buffer, 100))
                            .getMessage());
        }
    }

    @Test
    void headerIsEnoughToKnowWhatComes() {
        IoVec header = Packed.vector(Arrays.copyOf(wrapped(WireFormat.PMIX_3, CHECK), Envelope.BYTES));
        Envelope envelope = Envelope.ofHeader(header, 9);
        assertEquals(9, envelope.length());
        assertTrue(assertThrows(UnpackException.class, () -> Envelope.ofHeader(header, 8))
                .getMessage()
                .startsWith("too many bytes of items: "));
        assertNotEquals(0, envelope.checksum());
    }

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "PMIX_4_DESCRIBED"})
    void fileIsWrittenAndReadBack(WireFormat format, @TempDir Path folder) throws IOException {
        Path file = folder.resolve("message");
        byte[] bytes = new byte[300_000];
        new Random(7).nextBytes(bytes);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                SealedBuffer items = Packed.cut(bytes, 7, 100_000);
                SealedBuffer second = Packed.sealed(CHECK)) {
            assertEquals(300_024, Envelope.write(channel, format, items));
            assertEquals(33, Envelope.write(channel, format, second));
        }
        try (FileChannel channel = FileChannel.open(file)) {
            try (Enveloped first = Envelope.read(channel, Packed.SOURCE, 300_000)) {
                assertEquals(Optional.of(format), first.format());
                assertEquals(Packed.vector(bytes), first.items().iovec());
                assertEquals(1, first.items().iovec().regionCount());
                assertEquals(300_000, first.unpacker(Limits.DEFAULT).remaining());
            }
            try (Enveloped second = Envelope.read(channel, Packed.SOURCE, 300_000)) {
                assertEquals(Packed.vector(CHECK), second.items().iovec());
            }
            assertEquals(
                    "channel ended early: wanted=24 read=0",
                    assertThrows(EOFException.class, () -> Envelope.read(channel, Packed.SOURCE, 300_000))
                            .getMessage());
        }
    }

    /// Each of them leaves no memory taken, and the one that lies about its length takes none for it.
    @Test
    void fileThatIsNotWholeIsRefused() {
        byte[] whole = wrapped(WireFormat.PMIX_4, CHECK);
        assertEquals("channel ended early: wanted=24 read=23", refused(Arrays.copyOf(whole, 23), 9));
        assertEquals("channel ended early: wanted=9 read=8", refused(Arrays.copyOf(whole, 32), 9));
        assertEquals("too many bytes of items: expected=0..8 found=9 offset=8", refused(whole, 8));
        byte[] damaged = whole.clone();
        damaged[30] ^= 1;
        assertTrue(refused(damaged, 9).startsWith("items damaged: expected=e3069283 found="));
        String other = "4275456e02048000000000000000000000000000";
        assertEquals(
                "unknown version of envelope: expected=1 found=2 offset=4",
                refused(Packed.ofHex(other + headerCrc(other)), 9));
        String huge = "4275456e01048000" + "0000010000000000" + "00000000";
        assertEquals(
                "too many bytes of items: expected=0..4096 found=1099511627776 offset=8",
                refused(Packed.ofHex(huge + headerCrc(huge)), 4096));
    }

    @Test
    void channelThatTakesNoMoreIsAnError() throws IOException {
        Pipe pipe = Pipe.open();
        try (SealedBuffer items = Packed.sealed(new byte[1 << 20]);
                Pipe.SinkChannel sink = pipe.sink();
                Pipe.SourceChannel source = pipe.source()) {
            sink.configureBlocking(false);
            assertTrue(assertThrows(IOException.class, () -> Envelope.write(sink, WireFormat.PMIX_4, items))
                    .getMessage()
                    .startsWith("channel takes no more: remaining="));
            assertTrue(source.isOpen());
        }
    }

    private static String refused(byte[] bytes, long maxLength) {
        LeaseTally handles = new LeaseTally();
        long[] taken = {0};
        MemorySource counting = new MemorySource() {

            @Override
            public Region allocate(long byteSize) {
                taken[0] += byteSize;
                return Packed.SOURCE.allocate(byteSize);
            }

            @Override
            public LeaseTrace trace() {
                return handles;
            }
        };
        ReadableByteChannel channel = Channels.newChannel(new ByteArrayInputStream(bytes));
        Exception refused = assertThrows(Exception.class, () -> Envelope.read(channel, counting, maxLength));
        assertTrue(refused instanceof EOFException || refused instanceof UnpackException, refused.toString());
        assertEquals(0, handles.open());
        assertTrue(taken[0] <= Envelope.BYTES + maxLength, "taken=" + taken[0]);
        return refused.getMessage();
    }

    private static byte[] wrapped(WireFormat format, byte[] items) {
        try (SealedBuffer sealed = Packed.sealed(items);
                SealedBuffer whole = Envelope.wrap(Packed.SOURCE, format, sealed)) {
            return Packed.bytes(whole.iovec());
        }
    }

    private static String headerCrc(String hex) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.wrap(Packed.ofHex(hex)));
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }
}
