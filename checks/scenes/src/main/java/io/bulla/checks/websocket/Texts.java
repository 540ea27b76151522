// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

/// The messages: what each client expects, made from its number. `clients/` has the same in other languages.
record Texts(int filler) {

    // 32, so that compression halves them at most
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz012ä€ß";

    String text(int number) {
        StringBuilder text = new StringBuilder("{\"number\": " + number + ", \"filler\": \"");
        int next = number % 65537;
        for (int i = (int) (number * 7919L % filler); i > 0; i--) {
            next = (next * 75 + 74) % 65537;
            text.append(LETTERS.charAt(next % 32));
        }
        return text.append("\"}").toString();
    }
}
