// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

/// Treatment of text that is not UTF-8. C packs and reads any bytes but zero.
public enum TextMode {
    /// Text is UTF-8: other bytes are malformed, and half a surrogate pair is not packed.
    STRICT,
    /// Each byte that is not part of UTF-8 is read as one of U+DC80 to U+DCFF, half of a surrogate pair, and is
    /// packed as that byte again: what was read goes out as it came. Python calls it `surrogateescape` (PEP 383).
    ESCAPED
}
