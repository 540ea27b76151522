package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
        usage("Missing required option: '--format=<format>'", "--described", "00");
        usage(
                "Invalid value for option '--format': no such format: given=pmix5",
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
