// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.events;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.PmixEvent;
import io.bulla.runtime.pmix.PmixStatus;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class EventQueueTest {

    private static final PmixEvent EVENT =
            new PmixEvent(PmixStatus.LOST_CONNECTION, new Proc("job", 1), List.of(), Map.of());

    private final AtomicBoolean full = new AtomicBoolean(true);

    /// Fails when it is asked first, as on a full heap.
    private final class Codes extends AbstractSet<PmixStatus> {

        @Override
        public boolean contains(Object status) {
            if (full.getAndSet(false)) {
                throw new OutOfMemoryError("full, for a test");
            }
            return true;
        }

        @Override
        public Iterator<PmixStatus> iterator() {
            return Set.of(PmixStatus.LOST_CONNECTION).iterator();
        }

        @Override
        public int size() {
            return 1;
        }
    }

    @Test
    void failureBeforeAListenerIsAskedEndsNoEvents() throws InterruptedException {
        BlockingQueue<PmixEvent> heard = new LinkedBlockingQueue<>();
        EventQueue events = new EventQueue(10, "io.bulla.test");
        events.add(new EventQueue.Listener(new Codes(), heard::add));
        events.put(EVENT);
        for (int wait = 0; wait < 60_000 && full.get(); wait++) {
            Thread.sleep(1);
        }
        events.put(EVENT);
        assertEquals(EVENT, heard.poll(60, TimeUnit.SECONDS));
        assertEquals(0, events.dropped());
    }
}
