// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.PooledByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// The check of the check: it sees a buffer that is lost. Behind it, the class is without leaks again.
@ExtendWith(NoLeaks.class)
class LeakRecorderTest {

    @Test
    void detectorSeesABufferThatIsLost() throws Exception {
        // each class runs its own check at its end, so nothing of another's is forgotten here
        PooledByteBufAllocator.DEFAULT.directBuffer(100);
        NoLeaks.look(100);
        String found = LeakRecorder.FOUND.poll();
        assertTrue(found != null && found.contains("detectorSeesABufferThatIsLost"), found);
    }
}
