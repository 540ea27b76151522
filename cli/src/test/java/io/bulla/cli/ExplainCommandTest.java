// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Envelope;
import io.bulla.pack.Packer;
import io.bulla.pack.WireFormat;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExplainCommandTest {

    private static final String INT32_AND_STRING = "09020902090203046100";

    private String out;
    private String err;

    @Test
    void describedHexIsATree() {
        assertEquals(0, run("explain", "--format=pmix4", "--described", INT32_AND_STRING), () -> err);
        assertEquals("0  INT32 x1\n3    1\n4  STRING x1\n7    \"a\"\n", out);
        assertEquals("", err);
    }

    @Test
    void fileIsReadIfThereIsOne(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("0902"), HexFormat.of().parseHex("09000000020900000001ffffffff"));
        assertEquals(0, run("explain", "--format=opal-dss", "--described", file.toString()), () -> err);
        assertEquals("0  INT32 x2\n6    1, -1\n", out);
    }

    @Test
    void typesAreGivenWhereBytesCarryNone() {
        assertEquals(
                0, run("explain", "--format=PMIX3", "--types=INT32,string", "0000000100000007" + "0000000100000000"));
        assertEquals("0  INT32 x1\n4    7\n8  STRING x1\n12    null\n", out);
    }

    @Test
    void envelopeTellsTheFormatItself(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("message");
        try (ArenaSource memory = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(memory);
                FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            Packer.into(builder, WireFormat.PMIX_4_DESCRIBED).packInt32(1).packString("a");
            try (SealedBuffer items = builder.seal()) {
                Envelope.write(channel, WireFormat.PMIX_4_DESCRIBED, items);
            }
        }
        assertEquals(0, run("explain", file.toString()), () -> err);
        assertEquals("envelope of PMIX_4_DESCRIBED, 10 bytes\n0  INT32 x1\n3    1\n4  STRING x1\n7    \"a\"\n", out);
        byte[] bytes = Files.readAllBytes(file);
        bytes[Envelope.BYTES] ^= 1;
        Files.write(file, bytes);
        assertEquals(1, run("explain", file.toString()));
        assertTrue(out.startsWith("malformed: items damaged: "), out);
        assertEquals(1, run("explain", "00"));
        assertEquals("malformed: envelope truncated: expected=24 found=1 offset=0\n", out);
    }

    @Test
    void dashIsStandardInput() {
        InputStream before = System.in;
        try {
            System.setIn(new ByteArrayInputStream(HexFormat.of().parseHex(INT32_AND_STRING)));
            assertEquals(0, run("explain", "--format=pmix4", "--described", "-"), () -> err);
            assertEquals("0  INT32 x1\n3    1\n4  STRING x1\n7    \"a\"\n", out);
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void malformedBytesHaveStatusOneAndTheReason() {
        assertEquals(1, run("explain", "--format=pmix4", "--described", "09020980"));
        assertEquals("0  INT32 x1\n3  malformed: truncated number: expected=2 found=1 offset=3\n", out);
        assertEquals("", err);
    }

    @Test
    void usageErrorsHaveStatusTwo() {
        usage("neither a file nor an even number of hex digits: input=012", "--format=pmix4", "--described", "012");
        usage("neither a file nor an even number of hex digits: input=xyzt", "--format=pmix4", "--described", "xyzt");
        usage("either --described or --types must say what the items are", "--format=pmix4", "00");
        usage("type is unknown to the format: type=NAME format=pmix4", "--format=pmix4", "--types=NAME", "00");
        usage("--described needs --format; an envelope tells both", "--described", "00");
        usage(
                "Invalid value for option '--format': no such format: given=pmix5"
                        + " formats=[opal-dss, opal-dss-2012, pmix3, pmix4, pmix4-native]",
                "--format=pmix5",
                "--described",
                "00");
    }

    @Test
    void helpNamesTheFormats() {
        assertEquals(0, run("explain", "--help"));
        assertTrue(out.contains("opal-dss-2012"), out);
    }

    private void usage(String message, String... args) {
        Ran.refused(
                message, Stream.concat(Stream.of("explain"), Stream.of(args)).toArray(String[]::new));
    }

    private int run(String... args) {
        Ran ran = Ran.bulla(args);
        out = ran.out();
        err = ran.err();
        return ran.status();
    }
}
