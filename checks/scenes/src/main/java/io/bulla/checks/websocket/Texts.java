// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

/// The messages: what each client expects, made from its number. `clients/` has the same in other languages.
record Texts(int filler) {

    String text(int number) {
        return "{\"number\": " + number + ", \"filler\": \"" + "abcdä".repeat((int) (number * 7919L % filler)) + "\"}";
    }
}
