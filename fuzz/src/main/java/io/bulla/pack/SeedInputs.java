// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fuzz.ExactMemory;
import io.bulla.fuzz.FuzzInput;
import io.bulla.pack.value.DataType;
import io.bulla.runtime.oob.WireSeeds;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/// Inputs from which the fuzzer starts: bytes that the C libraries wrote, bytes that killed them, and kept inputs of
/// former runs, each read by calls that suit it.
public final class SeedInputs {

    private static final int EXPLAIN = WireFormat.values().length;
    private static final int ENVELOPE = EXPLAIN + 1;
    private static final int FRAME = ENVELOPE + 1;
    private static final int HELLO = FRAME + 1;
    private static final int CONNECTION = HELLO + 1;
    private static final int PMIX = CONNECTION + 1;
    private static final int PMIX_HEADER = 16;
    private static final int CALLS = 8;

    private final List<FuzzInput> inputs = new ArrayList<>();

    private SeedInputs() {}

    /// All of them, always the same.
    ///
    /// @return some thousand inputs
    public static List<FuzzInput> all() {
        SeedInputs seeds = new SeedInputs();
        lines("/opal-dss-golden.tsv").forEach(c -> seeds.golden(WireFormat.OPAL_DSS, c));
        lines("/pmix-golden.tsv").forEach(c -> seeds.golden(pmix(c[0], c[1]), c));
        lines("/pmix-malformed.tsv")
                .forEach(c -> seeds.add(
                        WireFormat.PMIX_4.described(c[0].equals("F")),
                        Integer.parseInt(c[3]),
                        c.length > 5 ? c[5] : ""));
        WireSeeds.headers().forEach(header -> seeds.inputs.add(FuzzInput.of(header, FRAME, 40)));
        seeds.inputs.add(FuzzInput.of(WireSeeds.hello(), HELLO, 20));
        WireSeeds.unknownPeers().forEach(words -> seeds.inputs.add(FuzzInput.of(words, CONNECTION, 0, 50)));
        WireSeeds.peers().forEach(words -> seeds.inputs.add(FuzzInput.of(words, CONNECTION, 1, 70)));
        seeds.inputs.add(FuzzInput.of(new byte[] {0, 0, 0, 3}, CONNECTION, 2, 0, 2));
        lines("/pmix-4.2.2.txt").forEach(c -> seeds.pmixServer(c[0]));
        lines("/io/bulla/fuzz/corpus.tsv")
                .forEach(c -> seeds.inputs.add(new FuzzInput(HexFormat.of().parseHex(c[0]))));
        return seeds.inputs;
    }

    /// Writes each into a file.
    ///
    /// @param args a directory
    /// @throws IOException from the directory
    public static void main(String[] args) throws IOException {
        Path directory = Files.createDirectories(Path.of(args[0]));
        int number = 0;
        for (FuzzInput input : all()) {
            Files.write(directory.resolve("seed-" + number++), input.bytes());
        }
    }

    /// What a server said, as each kind of message.
    private void pmixServer(String line) {
        byte[] message = HexFormat.of().parseHex(line.substring(2));
        if (line.charAt(0) == '<' && message.length > PMIX_HEADER) {
            byte[] body = Arrays.copyOfRange(message, PMIX_HEADER, message.length);
            for (int way = 0; way < 4; way++) {
                inputs.add(FuzzInput.of(body, PMIX, way));
            }
        }
    }

    private void golden(WireFormat plain, String[] c) {
        WireFormat format = plain.described(c[2].equals("F"));
        add(format, Integer.parseInt(c[5]), c[8]);
        // the ids of 2012 differ from 16 on, the grammar does not
        if (plain == WireFormat.OPAL_DSS) {
            add(WireFormat.OPAL_DSS_2012.described(format.described()), Integer.parseInt(c[5]), c[8]);
        }
    }

    private void add(WireFormat format, int id, String hex) {
        byte[] message = HexFormat.of().parseHex(hex);
        DataType known = format.typeOf(id);
        int type = known == null ? 0 : known.ordinal();
        int call = inputs.size() % CALLS;
        inputs.add(FuzzInput.of(message, format.ordinal(), inputs.size() * 7, call, type, call + 1, type, 1, type));
        if (inputs.size() % 3 == 0) {
            inputs.add(FuzzInput.of(message, EXPLAIN, format.ordinal(), type, type));
        }
        if (inputs.size() % 8 == 0) {
            inputs.add(FuzzInput.of(enveloped(format, message), ENVELOPE, 16));
        }
    }

    private static byte[] enveloped(WireFormat format, byte[] message) {
        ExactMemory memory = new ExactMemory();
        try (SealedBuffer items = memory.sealed(MemorySegment.ofArray(message));
                SealedBuffer whole = Envelope.wrap(memory, format, items);
                InputStream stream = whole.iovec().asInputStream()) {
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static WireFormat pmix(String module, String squash) {
        return switch (module) {
            case "v21", "v3" -> WireFormat.PMIX_3;
            default -> squash.equals("native") ? WireFormat.PMIX_4_NATIVE : WireFormat.PMIX_4;
        };
    }

    private static List<String[]> lines(String resource) {
        try (InputStream stream = SeedInputs.class.getResourceAsStream(resource)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#") && !line.isBlank())
                    .map(line -> line.split("\t"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
