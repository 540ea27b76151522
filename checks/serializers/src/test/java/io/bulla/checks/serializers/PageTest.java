// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The code of `docs/serializers.md` is the code of these tests, and the numbers of its table are measured.
///
/// `-Dbulla.page.write=true` writes the blocks anew.
class PageTest {

    private static final Path PAGE = Path.of("../../docs/serializers.md");
    private static final Path SOURCES = Path.of("src/test/java/io/bulla/checks/serializers");
    // <!-- code: KryoSerializer -->, and behind it the block
    private static final Pattern BLOCK =
            Pattern.compile("<!-- code: (\\w+) -->\n```java\n(.*?)```\n<!-- end -->\n", Pattern.DOTALL);
    // | [Kryo](#kryo) | the stream | no | 0 | 1 | 1 |
    private static final Pattern ROW = Pattern.compile(
            "^\\| \\[([^]]+)]\\(#[^)]+\\) \\| [^|]+ \\| (\\w+)[^|]* \\| (\\d) \\| (\\d) \\| (\\d) \\|$");
    private static final Map<String, String> NAMES = Map.ofEntries(
            Map.entry("protobuf", "ProtobufSerializer"),
            Map.entry("Jackson, JSON", "JacksonJsonSerializer"),
            Map.entry("Jackson, CBOR", "JacksonCborSerializer"),
            Map.entry("SBE", "SbeSerializer"),
            Map.entry("FlatBuffers", "FlatBuffersSerializer"),
            Map.entry("Kryo", "KryoSerializer"),
            Map.entry("Fory", "ForySerializer"),
            Map.entry("Avro", "AvroSerializer"),
            Map.entry("MessagePack", "MessagePackSerializer"),
            Map.entry("records by hand", "RecordByHand"));

    @Test
    void codeOfThePageIsTheCodeOfTheTests() throws IOException {
        String page = Files.readString(PAGE);
        if (Boolean.getBoolean("bulla.page.write")) {
            page = BLOCK.matcher(page)
                    .replaceAll(block -> Matcher.quoteReplacement("<!-- code: " + block.group(1) + " -->\n```java\n"
                            + shown(block.group(1)) + "```\n<!-- end -->\n"));
            Files.writeString(PAGE, page);
        }
        List<String> found = new ArrayList<>();
        Matcher block = BLOCK.matcher(page);
        while (block.find()) {
            found.add(block.group(1));
            assertEquals(shown(block.group(1)), block.group(2), block.group(1));
        }
        List<String> expected = Stream.concat(
                        Stream.of("ManySends"),
                        SerializersTest.all().stream()
                                .map(each -> each.getClass().getSimpleName()))
                .toList();
        assertEquals(expected, found);
    }

    @Test
    void tableOfThePageIsMeasured() throws IOException {
        List<String> found = new ArrayList<>();
        for (String line : Files.readAllLines(PAGE)) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                String name = NAMES.get(row.group(1));
                found.add(name);
                Serializer<?> serializer = named(name);
                assertEquals("0", row.group(3), "SerializersTest has no copy of a send: " + line);
                assertEquals(row.group(4), copies(serializer, SerializersTest.Regions.ONE), line);
                assertEquals(row.group(5), copies(serializer, SerializersTest.Regions.MANY), line);
                if (row.group(2).equals("no")) {
                    long heap = SerializersTest.heapToWrite(serializer);
                    assertTrue(heap < (1 << 20) / 4, () -> "bytes of the heap to write a MiB: " + heap + " " + line);
                }
            }
        }
        assertEquals(
                SerializersTest.all().stream()
                        .map(each -> each.getClass().getSimpleName())
                        .toList(),
                found);
    }

    private static Serializer<?> named(String name) {
        return SerializersTest.all().stream()
                .filter(each -> each.getClass().getSimpleName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static String copies(Serializer<?> serializer, SerializersTest.Regions regions) throws IOException {
        return String.valueOf(SerializersTest.copiesToRead(serializer, regions));
    }

    /// What stands between the marks of a source, without the indentation of the class.
    private static String shown(String name) {
        try {
            String source = Files.readString(SOURCES.resolve(name + ".java"));
            int from = source.indexOf("    // page\n") + "    // page\n".length();
            return source.substring(from, source.indexOf("    // end of page\n"))
                    .lines()
                    .map(line -> line.replaceFirst("^ {4}", ""))
                    .collect(Collectors.joining("\n", "", "\n"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
