// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;

/// One input: bytes that choose what is done, and behind them the message that it is done to.
///
/// ```
///  0        1      2 to 7                          8
///  target | way  | three calls: kind, type each  | message ...
/// ```
///
/// @param bytes at least [#HEADER] of them
public record FuzzInput(byte[] bytes) {

    /// Bytes that choose.
    public static final int HEADER = 8;

    /// One of the choices.
    ///
    /// @param at 0 to 7
    /// @param of how many there are to choose from
    /// @return at least 0, less than `of`
    public int choice(int at, int of) {
        return (bytes[at] & 0xff) % of;
    }

    /// The message, not copied.
    ///
    /// @return perhaps empty
    public MemorySegment message() {
        return MemorySegment.ofArray(bytes).asSlice(HEADER);
    }

    /// Size of the message.
    ///
    /// @return in bytes
    public int length() {
        return bytes.length - HEADER;
    }

    /// An input of its parts.
    ///
    /// @param message the message
    /// @param choices the header, zeros behind those given
    /// @return an input
    public static FuzzInput of(byte[] message, int... choices) {
        byte[] bytes = new byte[HEADER + message.length];
        for (int i = 0; i < choices.length; i++) {
            bytes[i] = (byte) choices[i];
        }
        System.arraycopy(message, 0, bytes, HEADER, message.length);
        return new FuzzInput(bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FuzzInput that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
