// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.posix.Errno;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Signals in the middle of a call.
@ExtendWith(NothingStays.class)
class SignalTest {

    private static final int SIGNALS = 6;
    private static final int MILLIS = 3;

    @AfterEach
    void closeTheSeam() {
        SyscallInterceptor.watch(null);
    }

    /// What is asked for after each signal is what is left, and not the whole time again.
    @Test
    void pollEndsAtItsDeadlineHoweverManySignalsCome() throws IOException {
        Thread self = Thread.currentThread();
        List<Integer> asked = new ArrayList<>();
        SyscallInterceptor.watch((call, arguments) -> {
            if (!call.equals("poll") || Thread.currentThread() != self) {
                return 0;
            }
            asked.add((int) arguments[MILLIS]);
            if (asked.size() > SIGNALS) {
                return 0;
            }
            for (long end = System.nanoTime() + 400_000_000; System.nanoTime() - end < 0; ) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
            return Errno.EINTR.number();
        });
        PosixSocket[] pair = PosixSocket.unixPair();
        try {
            assertFalse(pair[0].awaitReadable(2_000));
        } finally {
            pair[0].close();
            pair[1].close();
        }
        assertEquals(SIGNALS + 1, asked.size());
        for (int i = 0; i < asked.size(); i++) {
            assertTrue(asked.get(i) <= Math.max(0, 2_000 - 400 * i), asked::toString);
        }
    }

    @Test
    void pollWithoutALimitStaysSo() throws IOException {
        Thread self = Thread.currentThread();
        List<Integer> asked = new ArrayList<>();
        PosixSocket[] pair = PosixSocket.unixPair();
        SyscallInterceptor.watch((call, arguments) -> {
            if (!call.equals("poll") || Thread.currentThread() != self) {
                return 0;
            }
            asked.add((int) arguments[MILLIS]);
            return asked.size() < 3 ? Errno.EINTR.number() : 0;
        });
        try {
            assertTrue(pair[0].awaitWritable(-1));
        } finally {
            pair[0].close();
            pair[1].close();
        }
        assertEquals(List.of(-1, -1, -1), asked);
    }

    @Test
    void connectWaitsOnAfterASignal() throws IOException {
        try (PosixSocket server = PosixSocket.listen(0)) {
            Thread self = Thread.currentThread();
            int[] connects = new int[1];
            SyscallInterceptor.watch(
                    (call, _) -> call.equals("connect") && Thread.currentThread() == self && connects[0]++ < 3
                            ? Errno.EINTR.number()
                            : 0);
            try (PosixSocket client = PosixSocket.connect(server.port());
                    PosixSocket peer = server.accept()) {
                assertEquals(4, connects[0]);
                assertTrue(peer.isOpen() && client.isOpen());
            }
        }
    }
}
