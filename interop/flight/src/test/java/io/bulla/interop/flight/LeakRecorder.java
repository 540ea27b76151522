// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Netty's leak detector, which keeps its reports. Netty makes it by its name, which surefire sets.
@SuppressWarnings({"exports", "deprecation"}) // of a test; the constructors that Netty looks for
public final class LeakRecorder<T> extends ResourceLeakDetector<T> {

    private static final Queue<String> REPORTS = new ConcurrentLinkedQueue<>();

    public LeakRecorder(Class<?> resource, int samplingInterval, long maxActive) {
        super(resource, samplingInterval, maxActive);
    }

    public LeakRecorder(Class<?> resource, int samplingInterval) {
        super(resource, samplingInterval);
    }

    @Override
    protected boolean needReport() {
        return true;
    }

    @Override
    protected void reportTracedLeak(String resource, String records) {
        REPORTS.add(resource + records);
    }

    @Override
    protected void reportUntracedLeak(String resource) {
        REPORTS.add(resource);
    }

    /// The detector looks at what the collector found whenever a buffer is allocated.
    static List<String> reports(int rounds) throws InterruptedException {
        for (int i = 0; i < rounds && REPORTS.isEmpty(); i++) {
            System.gc();
            Thread.sleep(20);
            PooledByteBufAllocator.DEFAULT.directBuffer(1).release();
        }
        return List.copyOf(REPORTS);
    }
}
