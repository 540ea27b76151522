// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pages;

import io.bulla.bench.goals.Results;

/// A drawn picture, and the sentence that says what to see.
///
/// @param name of the file, without its ending
/// @param title for readers who cannot see it
/// @param sight the sentence below it
/// @param svg the file's text
record Picture(String name, String title, String sight, String svg) {

    static Picture of(Curve curve, Results measured) {
        return new Picture(curve.name(), curve.title(), curve.sight(), Drawing.of(curve, measured));
    }

    /// @param folder of the pictures, seen from the page
    String markdown(String folder) {
        return "![" + title + "](" + folder + "/" + name + ".svg)\n\n*" + sight + "*\n";
    }
}
