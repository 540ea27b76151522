// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.bulla.buffer.BufferBuilder;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.testkit.needs.Probe;
import org.jspecify.annotations.Nullable;

/// Tries a memory file that can be sealed.
final class MemoryFiles implements Probe {

    @Override
    public @Nullable String missing() {
        // its exception says why
        BufferBuilder.create(MemfdSource.create()).putByte((byte) 1).seal().close();
        return null;
    }
}
