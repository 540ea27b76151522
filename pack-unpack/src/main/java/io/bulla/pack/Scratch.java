// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

/// An array to put a run together in before it is written, kept from one run to the next.
final class Scratch {

    private byte[] bytes = {};

    byte[] ofAtLeast(int length) {
        if (bytes.length < length) {
            bytes = new byte[length];
        }
        return bytes;
    }
}
