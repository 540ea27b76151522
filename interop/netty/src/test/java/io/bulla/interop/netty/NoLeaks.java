// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.PooledByteBufAllocator;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// Fails a class of tests after which Netty's detector knows of a buffer that was not released.
final class NoLeaks implements AfterAllCallback {

    @Override
    public void afterAll(ExtensionContext tests) throws InterruptedException {
        look(5);
        assertEquals(List.of(), List.copyOf(LeakRecorder.FOUND));
    }

    /// The detector looks at what the collector found when somebody allocates.
    static void look(int rounds) throws InterruptedException {
        for (int i = 0; i < rounds && LeakRecorder.FOUND.isEmpty(); i++) {
            System.gc();
            Thread.sleep(20);
            PooledByteBufAllocator.DEFAULT.directBuffer(1).release();
        }
    }
}
