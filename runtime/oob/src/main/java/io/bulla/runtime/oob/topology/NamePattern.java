// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.util.regex.Pattern;

/// A name that has a rank in it, and a port: `bulla-{rank}.bulla:7000`.
///
/// @param before of the name, what stands before the rank
/// @param after of the name, what stands behind it
/// @param port 1 to 65535
record NamePattern(String before, String after, int port) {

    private static final String RANK = "{rank}";
    private static final int MOST_PORT = 65535;
    private static final int MOST_NAME = 253;
    private static final Pattern PORT = Pattern.compile("\\d{1,5}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,63}(\\.[A-Za-z0-9_-]{1,63})*\\.?");
    private static final Pattern NUMBERS = Pattern.compile("[0-9.]*");
    private static final Pattern FOUR_NUMBERS = Pattern.compile("\\d+\\.\\d+\\.\\d+\\.\\d+");

    /// @throws IllegalArgumentException if it is none; in one line, with the pattern
    static NamePattern parse(String pattern) {
        int at = pattern.indexOf(RANK);
        if (at < 0) {
            throw wrong("pattern has no {rank}", pattern);
        }
        if (pattern.indexOf(RANK, at + 1) >= 0) {
            throw wrong("pattern has {rank} more than once", pattern);
        }
        int colon = pattern.lastIndexOf(':');
        if (colon < 0) {
            throw wrong("pattern has no port, as in bulla-{rank}.bulla:7000", pattern);
        }
        String port = pattern.substring(colon + 1);
        if (colon < at || !PORT.matcher(port).matches()) {
            throw wrong("port is not 1 to 65535", pattern);
        }
        int number = Integer.parseInt(port);
        if (number < 1 || number > MOST_PORT) {
            throw wrong("port is not 1 to 65535", pattern);
        }
        NamePattern parsed =
                new NamePattern(pattern.substring(0, at), pattern.substring(at + RANK.length(), colon), number);
        // the resolver takes numbers for an address, and a single one for 0.0.0.n
        String first = parsed.nameOf(0);
        if (!NAME.matcher(first).matches()
                || NUMBERS.matcher(first).matches()
                        && !FOUR_NUMBERS.matcher(first).matches()) {
            throw wrong("not a host name", pattern);
        }
        if (parsed.nameOf(Integer.MAX_VALUE).length() > MOST_NAME) {
            throw wrong("host name is longer than " + MOST_NAME, pattern);
        }
        return parsed;
    }

    String nameOf(int rank) {
        if (rank < 0) {
            throw new IllegalArgumentException("rank is negative: rank=" + rank);
        }
        return before + rank + after;
    }

    private static IllegalArgumentException wrong(String what, String pattern) {
        return new IllegalArgumentException(what + ": pattern=" + pattern.replaceAll("\\p{Cntrl}", "?"));
    }

    @Override
    public String toString() {
        return before + RANK + after + ":" + port;
    }
}
