package io.bulla.pack;

/// What a message may announce. Checked before anything is allocated for it.
///
/// @param maxCount values in one item
/// @param maxStringBytes bytes of one string, its terminating zero included
public record Limits(int maxCount, int maxStringBytes) {

    /// 16 Mi values an item, 16 MiB a string. Byte objects are views and need no limit of their own.
    public static final Limits DEFAULT = new Limits(1 << 24, 1 << 24);

    /// Checks the limits.
    ///
    /// @throws IllegalArgumentException if one is negative
    public Limits {
        if (maxCount < 0 || maxStringBytes < 0) {
            throw new IllegalArgumentException(
                    "a limit is negative: maxCount=" + maxCount + " maxStringBytes=" + maxStringBytes);
        }
    }
}
