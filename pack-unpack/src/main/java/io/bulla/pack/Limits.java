// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

/// Upper bounds for what a message may announce, checked before memory is allocated for it. A packer refuses what a
/// reader with the same limits would refuse, so that the default reader reads what the default packer wrote.
///
/// @param maxCount values in one item, and in one array inside it
/// @param maxStringBytes bytes of one string, its terminating zero included
/// @param maxObjectBytes bytes of one byte object or nested buffer, which are views and cost no memory
/// @param maxNesting how deep values may stand inside values, at most [#MAX_NESTING]
/// @param maxElements values in one item, those inside composites and arrays included
public record Limits(int maxCount, int maxStringBytes, long maxObjectBytes, int maxNesting, int maxElements) {

    /// The deepest nesting that can be asked for. Each level is a few calls on the reader's stack; this many fit into
    /// half of the smallest stack that threads commonly have, 512 KiB.
    public static final int MAX_NESTING = 128;

    /// 16 Mi values an item, 16 MiB a string, byte objects of any size, 32 levels.
    public static final Limits DEFAULT = new Limits(1 << 24, 1 << 24);

    /// Checks the limits.
    ///
    /// @throws IllegalArgumentException if one is negative, or the nesting deeper than a stack carries
    public Limits {
        if (maxCount < 0 || maxStringBytes < 0 || maxObjectBytes < 0 || maxNesting < 0 || maxElements < 0) {
            throw new IllegalArgumentException("a limit is negative: maxCount=" + maxCount + " maxStringBytes="
                    + maxStringBytes + " maxObjectBytes=" + maxObjectBytes + " maxNesting=" + maxNesting
                    + " maxElements=" + maxElements);
        }
        if (maxNesting > MAX_NESTING) {
            throw new IllegalArgumentException(
                    "nesting deeper than a stack carries: maxNesting=" + maxNesting + " max=" + MAX_NESTING);
        }
    }

    /// Limits on counts and strings; byte objects of any size, 32 levels, as many values as one item may have.
    ///
    /// @param maxCount values in one item
    /// @param maxStringBytes bytes of one string
    /// @throws IllegalArgumentException if one is negative
    public Limits(int maxCount, int maxStringBytes) {
        this(maxCount, maxStringBytes, Long.MAX_VALUE, 32, maxCount);
    }
}
