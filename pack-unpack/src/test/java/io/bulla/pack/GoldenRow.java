// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.value.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/// One row of the golden vectors: what a C library wrote for a value.
record GoldenRow(
        String module, String squash, boolean described, String id, int code, int count, String value, String hex) {

    static List<GoldenRow> of(String resource) throws IOException {
        List<GoldenRow> rows = new ArrayList<>();
        try (InputStream stream = GoldenRow.class.getResourceAsStream(resource)) {
            for (String line : new String(stream.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                if (!line.startsWith("#")) {
                    String[] c = line.split("\t");
                    rows.add(new GoldenRow(
                            c[0],
                            c[1],
                            c[2].equals("F"),
                            c[3],
                            Integer.parseInt(c[5]),
                            Integer.parseInt(c[6]),
                            c[7],
                            c[8]));
                }
            }
        }
        return rows;
    }

    WireFormat format() {
        WireFormat plain = switch (module + " " + squash) {
            case "opal -" -> WireFormat.OPAL_DSS;
            case "v21 flex128", "v3 flex128" -> WireFormat.PMIX_3;
            case "v41 native" -> WireFormat.PMIX_4_NATIVE;
            case "v41 flex128" -> WireFormat.PMIX_4;
            default -> throw new IllegalArgumentException(module + " " + squash);
        };
        return plain.described(described);
    }

    DataType type() {
        return Objects.requireNonNull(format().typeOf(code), this::toString);
    }

    /// What the C library was given, as Java holds it.
    List<Object> values() {
        return switch (id) {
            case "none_bool",
                    "none_name",
                    "none_status",
                    "none_data_type",
                    "none_int",
                    "none_uint",
                    "none_size",
                    "none_pid",
                    "none_string" -> List.of();
            case "str_null" -> Collections.singletonList(null);
            case "pointer" -> Collections.singletonList(null);
            case "str_a" -> List.of("a");
            case "str_hello" -> List.of("hello");
            case "str_utf8" -> List.of("h\u00e9llo \u20ac \ud83d\ude00");
            case "str_63" -> List.of("x".repeat(63));
            case "str_300" -> List.of("y".repeat(300));
            case "str_arr" ->
                module.equals("opal") ? Arrays.asList("hello", "", null) : Arrays.asList("one", "", null, "four");
            case "bo_empty" -> List.of(Packed.vector());
            case "bo_4" -> List.of(Packed.vector((byte) 0, (byte) 1, (byte) 2, (byte) -1));
            case "bo_arr" ->
                module.equals("opal")
                        ? List.of(Packed.vector((byte) 0, (byte) 1, (byte) -1), Packed.vector())
                        : List.of(Packed.vector(numbered(300)), Packed.vector(), Packed.vector((byte) 0));
            case "compressed_string", "compressed_bo" -> List.of(Packed.vector(Packed.ofHex("789c0300")));
            case "int32_1000" ->
                IntStream.range(0, 1000)
                        .mapToObj(i -> (Object) (int) (i * 2654435761L))
                        .toList();
            default -> id.matches(COMPOSITES) ? List.of(GoldenComposites.of(this)) : numbers();
        };
    }

    private static final String COMPOSITES =
            "(timeval|proc_[0-9wai]|nspace|val_|value_|darray|info_uint32|pdata|app|query|coord|geometry|device_dist|dbuf|name|buffer_|envar|kval|endpoint|regattr).*";

    private List<Object> numbers() {
        return Arrays.stream(value.replaceAll("[\\[\\]]", "").split(","))
                .map(this::number)
                .toList();
    }

    private Object number(String text) {
        DataType type = type();
        return switch (type.wire()) {
            case FLOAT -> Float.parseFloat(javaText(text));
            case DOUBLE -> Double.parseDouble(javaText(text));
            case INT64, UINT64 -> text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
            default -> type.wire().box(Long.parseLong(text));
        };
    }

    private static String javaText(String text) {
        return text.replace("nan", "NaN").replace("inf", "Infinity");
    }

    private static byte[] numbered(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }
}
