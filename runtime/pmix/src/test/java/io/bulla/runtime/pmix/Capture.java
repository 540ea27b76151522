// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.runtime.pmix.internal.wire.Header;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/// What a C client and a server of PMIx 4.2.2 said to each other.
final class Capture {

    static final String NAMESPACE = "21430273";

    private static final List<String> LINES = lines();

    private Capture() {}

    /// The body of the nth message of the server, answers of the hello not counted.
    static byte[] answer(int n) {
        byte[] message = said('<').get(n + 1);
        return java.util.Arrays.copyOfRange(message, Header.BYTES, message.length);
    }

    /// The body of the nth request of the client.
    static byte[] request(int n) {
        byte[] message = said('>').get(n + 1);
        return java.util.Arrays.copyOfRange(message, Header.BYTES, message.length);
    }

    static byte[] hello() {
        return said('>').getFirst();
    }

    private static List<byte[]> said(char by) {
        return LINES.stream()
                .filter(line -> line.charAt(0) == by)
                .map(line -> HexFormat.of().parseHex(line.substring(2)))
                .toList();
    }

    private static List<String> lines() {
        try (var in = Capture.class.getResourceAsStream("/pmix-4.2.2.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
