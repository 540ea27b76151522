// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/// Numbers, text and bytes that sit where encodings change: at powers of two, at lengths of 63 and 127, at null.
///
/// @param random of one case
record RandomNumbers(RandomGenerator random) {

    /// Hashed twice, so that neither neighbouring cases nor neighbouring seeds have numbers in common.
    static RandomNumbers of(long seed, long number) {
        long start = new SplittableRandom(seed).nextLong() + number;
        return new RandomNumbers(new SplittableRandom(new SplittableRandom(start).nextLong()));
    }

    int below(int bound) {
        return random.nextInt(bound);
    }

    boolean bool() {
        return random.nextBoolean();
    }

    <T> T of(List<T> list) {
        return list.get(below(list.size()));
    }

    /// A number of at most so many bits, in the lowest bits of a `long`.
    long bits(int width) {
        return switch (below(4)) {
            case 0 -> below(200) - 100;
            case 1 -> (1L << below(width)) - below(3) + 1;
            case 2 -> -(1L << below(width)) - below(3) + 1;
            default -> random.nextLong() >>> 64 - 1 - below(width);
        };
    }

    float float32() {
        return switch (below(4)) {
            case 0 -> below(2000) / 8f - 125;
            case 1 ->
                of(List.of(0f, -0f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.MAX_VALUE));
            case 2 -> (float) random.nextGaussian();
            default -> Float.intBitsToFloat(random.nextInt());
        };
    }

    double float64() {
        return switch (below(4)) {
            case 0 -> (below(2_000_001) - 1_000_000) / 2_000_000.0;
            case 1 -> of(List.of(0.0, -0.0, Double.NaN, Double.POSITIVE_INFINITY, -5e-7, 1.5e-6, Double.MIN_VALUE));
            case 2 -> random.nextGaussian() * (1L << below(50));
            default -> Double.longBitsToDouble(random.nextLong());
        };
    }

    /// Text or null.
    String nullable() {
        return below(10) == 0 ? null : text(below(40) == 0 ? 3000 : 130);
    }

    /// Text of at most so many bytes without a zero, mostly UTF-8.
    String text(int maxBytes) {
        int most = below(8) == 0 ? maxBytes : Math.min(maxBytes, below(20));
        if (below(8) == 0) {
            byte[] any = new byte[most];
            for (int i = 0; i < most; i++) {
                any[i] = (byte) (1 + below(0xff));
            }
            return RawText.text(any);
        }
        if (bool()) {
            StringBuilder ascii = new StringBuilder(most);
            for (int i = 0; i < most; i++) {
                ascii.append((char) (' ' + below(95)));
            }
            return ascii.toString();
        }
        StringBuilder text = new StringBuilder();
        for (int bytes = 0; bytes < most; ) {
            String each = Character.toString(codePoint());
            bytes += each.getBytes(StandardCharsets.UTF_8).length;
            text.append(bytes <= most ? each : "");
        }
        return text.toString();
    }

    private int codePoint() {
        return switch (below(4)) {
            case 0 -> 1 + below(0x7f);
            case 1 -> 0x80 + below(0x780);
            case 2 -> bool() ? 0x800 + below(0xd000) : 0xe000 + below(0x2000);
            default -> 0x1_0000 + below(0x10_0000);
        };
    }

    byte[] bytes() {
        byte[] bytes = new byte[below(4) == 0 ? 0 : below(20) == 0 ? below(5000) : below(130)];
        random.nextBytes(bytes);
        return bytes;
    }

    /// Bytes that PMIx compresses: 4096 or more, few of them different.
    byte[] compressible() {
        byte[] bytes = new byte[4096 + below(20_000)];
        int different = 1 + below(40);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) below(different);
        }
        return bytes;
    }

    /// Null, nothing, or a list of processors as hwloc writes one.
    String cpuset() {
        int kind = below(8);
        if (kind > 0) {
            return kind == 1 ? null : "";
        }
        StringBuilder list = new StringBuilder();
        int next = below(3);
        for (int i = 1 + below(4); i > 0; i--) {
            int last = next + below(70);
            list.append(next).append(last == next ? "" : "-" + last).append(i == 1 ? "" : ",");
            next = last + 2 + below(9);
        }
        return list.toString();
    }
}
