// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * What the command asks for.
 *
 * @param port of the loopback address; 0 is a free one
 * @param clients in the other process
 * @param mode to begin with
 */
record Options(int port, int clients, Mode mode) {

    static final String USAGE = "[--clients N] [--port P] [--mode plain|shared|deflate]: a page at http://127.0.0.1:P/, "
            + "and N clients in another process (1000, 8080, shared); Ctrl-C ends it";

    private static final int MOST_CLIENTS = 20_000;
    // of the JVM, the page and what listens
    private static final int OTHER_DESCRIPTORS = 200;

    /** @throws IllegalArgumentException with one line for the user */
    static Options of(String[] words) {
        int port = 8080;
        int clients = 1000;
        Mode mode = Mode.SHARED;
        for (int i = 0; i < words.length; i += 2) {
            String name = words[i];
            if (i + 1 == words.length) {
                throw new IllegalArgumentException("no option, or one without its value: '" + name + "'");
            }
            String value = words[i + 1];
            switch (name) {
                case "--port" -> port = number(name, value, 65_535);
                case "--clients" -> clients = number(name, value, MOST_CLIENTS);
                case "--mode" -> mode = Mode.of(value).orElseThrow(() ->
                        new IllegalArgumentException("not plain, shared or deflate: --mode '" + value + "'"));
                default -> throw new IllegalArgumentException("unknown option: '" + name + "'");
            }
        }
        return new Options(port, clients, mode);
    }

    private static int number(String name, String value, int most) {
        try {
            int number = Integer.parseInt(value);
            if (number >= 0 && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new IllegalArgumentException("not a number from 0 to " + most + ": " + name + " '" + value + "'");
    }

    /** @throws IllegalArgumentException if this process, and the other one, may not open a socket for each client */
    void checkDescriptors() {
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                && system.getMaxFileDescriptorCount() < clients + OTHER_DESCRIPTORS) {
            throw new IllegalArgumentException("too few open files are allowed (ulimit -n): allowed="
                    + system.getMaxFileDescriptorCount() + " wanted=" + (clients + OTHER_DESCRIPTORS));
        }
    }
}
