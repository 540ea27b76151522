// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.pack.WireFormat;
import java.util.HexFormat;
import java.util.List;

/// Where Java and C do not agree.
///
/// @param items what was packed
/// @param what was done, and what differed
/// @param byJava its bytes, or null if it refused
/// @param byC its bytes, or null if it refused or was not asked
record Difference(List<Item> items, String what, byte[] byJava, byte[] byC) {

    private static final int MOST_SHOWN = 1500;

    void report(WireFormat format, long seed, long number) {
        System.out.println("oracle: difference: format=" + format + " seed=" + seed + " case=" + number);
        System.out.println("  what  " + what);
        System.out.println("  items " + cut(items));
        System.out.println("  java  " + hex(byJava));
        System.out.println("  c     " + hex(byC));
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? "none" : cut(HexFormat.of().formatHex(bytes));
    }

    static String cut(Object shown) {
        String text = shown.toString();
        return text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN) + "...";
    }
}
