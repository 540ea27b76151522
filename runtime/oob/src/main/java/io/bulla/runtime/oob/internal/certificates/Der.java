// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.certificates;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/// Writes the few ASN.1 values that a certificate is made of, in DER (ITU-T X.690): tag, length, content.
public final class Der {

    private static final DateTimeFormatter TWO_DIGITS = DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'", Locale.ROOT);
    private static final DateTimeFormatter FOUR_DIGITS = DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'", Locale.ROOT);
    private static final int YEAR_OF_FOUR_DIGITS = 2050;

    private Der() {}

    public static byte[] sequence(byte[]... values) {
        return value(0x30, values);
    }

    public static byte[] integer(BigInteger value) {
        return value(0x02, value.toByteArray());
    }

    public static byte[] yes() {
        return value(0x01, new byte[] {(byte) 0xff});
    }

    public static byte[] octets(byte[] content) {
        return value(0x04, content);
    }

    /// @param unused bits at the end that do not count
    public static byte[] bits(int unused, byte... content) {
        return value(0x03, new byte[] {(byte) unused}, content);
    }

    /// @param dotted such as `2.5.29.19`
    public static byte[] oid(String dotted) {
        String[] arcs = dotted.split("\\.");
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        content.write(Integer.parseInt(arcs[0]) * 40 + Integer.parseInt(arcs[1]));
        for (int i = 2; i < arcs.length; i++) {
            int arc = Integer.parseInt(arcs[i]);
            for (int shift = 28; shift > 0; shift -= 7) {
                if (arc >>> shift != 0) {
                    content.write(arc >>> shift & 0x7f | 0x80);
                }
            }
            content.write(arc & 0x7f);
        }
        return value(0x06, content.toByteArray());
    }

    /// Two digits of the year as long as RFC 5280 (4.1.2.5) wants them.
    public static byte[] time(Instant when) {
        ZonedDateTime utc = when.atZone(ZoneOffset.UTC);
        boolean four = utc.getYear() >= YEAR_OF_FOUR_DIGITS;
        return value(four ? 0x18 : 0x17, ascii((four ? FOUR_DIGITS : TWO_DIGITS).format(utc)));
    }

    /// A value with a tag of its context's, that stands around others.
    public static byte[] around(int tag, byte[]... values) {
        return value(0xa0 | tag, values);
    }

    /// A value with a tag of its context's instead of its own.
    public static byte[] instead(int tag, byte[] content) {
        return value(0x80 | tag, content);
    }

    public static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] value(int tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (length < 0x80) {
            out.write(length);
        } else {
            byte[] size = BigInteger.valueOf(length).toByteArray();
            int zero = size[0] == 0 ? 1 : 0;
            out.write(0x80 | size.length - zero);
            out.write(size, zero, size.length - zero);
        }
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
