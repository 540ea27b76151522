// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.CountingSource;
import io.bulla.testkit.Racers;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/// A reservation and the last release run beside each other; both succeed, and the reserved memory is gone.
///
/// Chronicle-Bytes#116, Chronicle-Bytes#118. scylladb#10573: a plain count is touched from another core.
class ShareBesideTheLastCloseTest {

    private static final byte[] MESSAGE = Bytes.numbered(21, 200);

    @Test
    void lookThenAddReservesWhatIsFreedInBetween() {
        class Counted {
            private int count = 1;
            private boolean freed;
        }
        Counted store = new Counted();
        boolean held = store.count > 0;
        store.freed = --store.count == 0;
        if (held) {
            store.count++;
        }
        assertTrue(store.freed);
        assertEquals(1, store.count, "reserved, and freed");
    }

    @Test
    void shareEitherHoldsTheBytesOrThrows() throws Exception {
        CountingSource source = new CountingSource(null);
        try (Racers racers = new Racers(3)) {
            for (int round = 0; round < 2_000; round++) {
                SealedBuffer buffer = Bytes.seal(source, MESSAGE);
                racers.race(buffer::close, () -> shareAndRead(buffer), () -> shareAndRead(buffer));
                assertEquals(0, buffer.holders());
                assertEquals(round + 1, source.givenBack());
            }
        }
    }

    @Test
    void handleGoesFromThreadToThread() throws Exception {
        CountingSource source = new CountingSource(null);
        try (Racers racers = new Racers(2)) {
            for (int round = 0; round < 1_000; round++) {
                AtomicReference<SealedBuffer> mailbox = new AtomicReference<>();
                racers.race(
                        () -> {
                            try (SealedBuffer mine = Bytes.seal(source, MESSAGE)) {
                                mailbox.set(mine.share());
                            }
                        },
                        () -> {
                            SealedBuffer got = mailbox.get();
                            while (got == null) {
                                Thread.onSpinWait();
                                got = mailbox.get();
                            }
                            assertArrayEquals(MESSAGE, Bytes.of(got));
                            got.close();
                        });
                assertEquals(round + 1, source.givenBack());
            }
        }
    }

    private static void shareAndRead(SealedBuffer buffer) {
        SealedBuffer mine;
        try {
            mine = buffer.share();
        } catch (ReleasedBufferException tooLate) {
            return;
        }
        assertArrayEquals(MESSAGE, Bytes.of(mine));
        mine.close();
    }
}
