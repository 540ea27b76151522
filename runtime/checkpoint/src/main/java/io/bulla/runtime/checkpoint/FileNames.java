// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.util.Locale;

/// Names of the files of a checkpoint, in a folder and in errors.
final class FileNames {

    static final String MANIFEST = "MANIFEST";

    private FileNames() {}

    static String rank(int rank) {
        return String.format(Locale.ROOT, "rank-%05d.bulla", rank);
    }
}
