// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.refcount.LeaseTally;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/// A channel without a network, and a source whose handles are counted: none is left after a test. A region of more
/// than a quarter MiB has an arena of its own, which ends with the last handle.
@ExtendWith(NoLeaks.class)
abstract class EmbeddedSends {

    final LeaseTally handles = new LeaseTally();
    final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
    final EmbeddedChannel channel = new EmbeddedChannel();

    @AfterEach
    void nothingIsLeft() {
        channel.finishAndReleaseAll();
        assertEquals(0, handles.open());
        source.close();
    }
}
