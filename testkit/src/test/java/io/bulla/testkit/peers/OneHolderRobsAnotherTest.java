// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseLedger;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.Compiler;
import io.bulla.testkit.CountingSource;
import java.util.List;
import org.junit.jupiter.api.Test;

/// One holder releases twice while another one still holds: no error, and the other one's buffer is gone.
///
/// netty#15512, arrow#35928: neither count knows whose release it is, and Arrow's goes below zero.
class OneHolderRobsAnotherTest {

    private static final byte[] MESSAGE = Bytes.numbered(7, 300);

    @Test
    void anonymousCountCannotTellWhoReleases() {
        class Counted {
            private int count = 1;

            void retain() {
                count++;
            }

            boolean release() {
                return --count == 0;
            }
        }
        Counted buffer = new Counted();
        buffer.retain();
        buffer.release();
        assertTrue(buffer.release(), "freed by the first holder's second release");
        buffer.release();
        assertEquals(-1, buffer.count);
    }

    @Test
    void secondCloseTakesNothingFromAnybody() {
        CountingSource source = new CountingSource(null);
        SealedBuffer mine = Bytes.seal(source, MESSAGE);
        SealedBuffer yours = mine.share();
        for (int i = 0; i < 5; i++) {
            mine.close();
        }
        assertEquals(1, yours.holders());
        assertArrayEquals(MESSAGE, Bytes.of(yours));
        yours.close();
        yours.close();
        assertEquals(1, source.givenBack());
        assertEquals(0, yours.holders());
    }

    @Test
    void useAfterCloseSaysWhoClosed() {
        SealedBuffer buffer = Bytes.seal(new CountingSource(LeaseLedger.full().withCloses()), MESSAGE);
        buffer.close();
        Throwable closedBy =
                assertThrows(ReleasedBufferException.class, buffer::iovec).getCause();
        assertEquals("lease closed here, by " + Thread.currentThread().getName(), closedBy.getMessage());
        assertEquals(
                "useAfterCloseSaysWhoClosed",
                List.of(closedBy.getStackTrace()).stream()
                        .filter(frame -> frame.getClassName().equals(getClass().getName()))
                        .findFirst()
                        .orElseThrow()
                        .getMethodName());
    }

    @Test
    void bareRetainAndReleaseAreNotOffered() {
        assertEquals(List.of(), Compiler.errors("io.bulla.buffer.SealedBuffer b = null; b.holders();"));
        for (String call : List.of("retain(null, b)", "count()", "retain()", "release()")) {
            assertEquals(
                    1,
                    Compiler.errors("io.bulla.buffer.SealedBuffer b = null; b." + call + ";")
                            .size(),
                    call);
        }
    }
}
