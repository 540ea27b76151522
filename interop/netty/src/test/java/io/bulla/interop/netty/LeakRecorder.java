// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.util.ResourceLeakDetector;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Netty's leak detector, which remembers what it found. Netty makes it by its name, which surefire sets.
@SuppressWarnings("exports") // of a test
public final class LeakRecorder<T> extends ResourceLeakDetector<T> {

    static final Queue<String> FOUND = new ConcurrentLinkedQueue<>();

    @SuppressWarnings("deprecation") // the constructor that Netty looks for
    public LeakRecorder(Class<?> resource, int samplingInterval, long maxActive) {
        super(resource, samplingInterval, maxActive);
    }

    @SuppressWarnings("deprecation") // the constructor that Netty looks for
    public LeakRecorder(Class<?> resource, int samplingInterval) {
        super(resource, samplingInterval);
    }

    @Override
    protected boolean needReport() {
        return true;
    }

    @Override
    protected void reportTracedLeak(String resource, String records) {
        FOUND.add(resource + records);
    }

    @Override
    protected void reportUntracedLeak(String resource) {
        FOUND.add(resource);
    }
}
