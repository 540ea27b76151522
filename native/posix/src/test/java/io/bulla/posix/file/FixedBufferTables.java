// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import io.bulla.posix.PosixException;
import io.bulla.testkit.needs.Probe;
import org.jspecify.annotations.Nullable;

/// Tries an io_uring with a table of registered memory.
final class FixedBufferTables implements Probe {

    @Override
    public @Nullable String missing() throws PosixException {
        try (FixedBufferTable table = FixedBufferTable.open(1)) {
            return table.filled() == 0 ? null : "filled=" + table.filled();
        }
    }
}
