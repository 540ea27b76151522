// SPDX-License-Identifier: Apache-2.0
package com.example.feed;

/** The messages of a trial: server and browsers make the same text for a number. */
final class Texts {

    /** In characters: a header of 2, 4 and 10 bytes; below and above what is copied together. */
    private static final int[] SIZES = {60, 3_000, 20_000, 70_000};

    private Texts() {}

    /**
     * A text that differs from all others.
     *
     * @param number of the message
     * @param size in characters, or 0 for several sizes in turn
     */
    static String text(int number, int size) {
        int length = size > 0 ? size : SIZES[number % SIZES.length];
        StringBuilder text = new StringBuilder(length).append("message ").append(number).append(' ');
        for (int i = text.length(); i < length; i++) {
            // two and three bytes, too
            text.append(i % 50 == 0 ? 'é' : i % 50 == 25 ? '€' : (char) ('a' + (number * 31 + i * i) % 26));
        }
        return text.toString();
    }
}
