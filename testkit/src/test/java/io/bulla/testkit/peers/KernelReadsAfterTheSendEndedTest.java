// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.SendTicket;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.PoisoningSource;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// The send reports success while the kernel still reads the memory; the buffer is given back at the report.
///
/// netty#17238, folly 579f4cc87 (a partial zero-copy send), liburing#1462 (either comes first).
@ExtendWith(NoOpenHandles.class)
class KernelReadsAfterTheSendEndedTest {

    private static final byte[] MESSAGE = Bytes.numbered(15, 300);

    @Test
    void freeOnCompletionIsAFreeBeneathTheKernel() {
        byte[] memory = MESSAGE.clone();
        Runnable completed = () -> Arrays.fill(memory, PoisoningSource.POISON);
        completed.run();
        assertArrayEquals(Bytes.poison(300), memory, "what the kernel sends a moment later");
    }

    @Test
    void memoryGoesAtTheLaterOfTheTwoInEitherOrder(MemorySource source) {
        for (boolean resultFirst : new boolean[] {true, false}) {
            SealedBuffer buffer = Bytes.seal(source, MESSAGE);
            IoVec kernel = buffer.iovec();
            SendTicket ticket = new SendTicket(buffer.move(), 2);
            Runnable result = ticket::happened;
            Runnable notification = ticket::happened;
            (resultFirst ? result : notification).run();
            assertArrayEquals(MESSAGE, Bytes.of(kernel));
            (resultFirst ? notification : result).run();
            assertArrayEquals(Bytes.poison(300), Bytes.of(kernel));
        }
    }

    @Test
    void everyPieceOfAPartialSendIsWaitedFor(MemorySource source) {
        SealedBuffer buffer = Bytes.seal(source, MESSAGE);
        IoVec kernel = buffer.iovec();
        int pieces = 3;
        SendTicket ticket = new SendTicket(buffer, pieces + 1);
        for (int piece = 0; piece < pieces; piece++) {
            ticket.happened();
            assertArrayEquals(MESSAGE, Bytes.of(kernel));
        }
        ticket.happened();
        assertArrayEquals(Bytes.poison(300), Bytes.of(kernel));
    }

    @Test
    void notificationTooManyIsAnErrorAndTakesNothing(MemorySource source) {
        SealedBuffer other = Bytes.seal(source, MESSAGE);
        SendTicket ticket = new SendTicket(other.share(), 1);
        ticket.happened();
        assertEquals(
                "more events than announced: surplus=1",
                assertThrows(IllegalStateException.class, ticket::happened).getMessage());
        assertEquals(1, other.holders());
        assertArrayEquals(MESSAGE, Bytes.of(other));
        other.close();
    }
}
