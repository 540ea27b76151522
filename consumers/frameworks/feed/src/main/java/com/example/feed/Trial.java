// SPDX-License-Identifier: Apache-2.0
package com.example.feed;

import com.example.feed.Feed.How;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What to try: --prepared|--payload|--plain [--figures] [BROWSERS [MESSAGES [SIZE]]].
 *
 * <p>The browsers are in another process. Two of them leave while the server sends, unless figures are wanted.
 *
 * @param size of a message in characters, or 0 for several sizes in turn
 */
record Trial(How how, boolean figures, int browsers, int messages, int size) {

    static Trial of(String[] arguments) {
        List<String> words = new ArrayList<>(List.of(arguments));
        boolean figures = words.remove("--figures");
        How how = How.valueOf(words.removeFirst().substring(2).toUpperCase(Locale.ROOT));
        return new Trial(how, figures, number(words, 0, 8), number(words, 1, 40), number(words, 2, 0));
    }

    private static int number(List<String> words, int index, int otherwise) {
        return index < words.size() ? Integer.parseInt(words.get(index)) : otherwise;
    }

    /** How many browsers leave before the end. */
    int leavers() {
        return figures ? 0 : 2;
    }

    Process startBrowsers(URI feed) throws IOException {
        List<String> command = List.of(
                System.getProperty("java.home") + "/bin/java",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Browsers.class.getName(),
                feed.toString(),
                "" + browsers,
                "" + messages,
                "" + size,
                "" + leavers());
        return new ProcessBuilder(command).inheritIO().start();
    }
}
