// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.internal;

/// The text of a tag, which is an object of the program's: to make it may throw, and must not hide what is said with
/// it.
public final class TagText {

    private TagText() {}

    /// The tag's own text, or one that says why there is none.
    ///
    /// @param tag of a holder
    /// @return the same each time for a tag that does not change
    public static String of(Object tag) {
        try {
            return String.valueOf(tag.toString());
        } catch (Throwable failure) {
            return tag.getClass().getName() + " without a text: "
                    + failure.getClass().getName();
        }
    }
}
