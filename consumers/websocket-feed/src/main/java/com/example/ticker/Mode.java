// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** How the server sends one text to all. */
enum Mode {
    /** Netty alone: a frame for each client, which its channel compresses. */
    PLAIN,
    /** A prepared message, framed once. */
    SHARED,
    /** A prepared message, framed and compressed once. */
    DEFLATE;

    /** As the page and the command say it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Optional<Mode> of(String word) {
        return Stream.of(values()).filter(each -> each.word().equals(word)).findFirst();
    }
}
