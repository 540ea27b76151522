// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.Test;

/// The machine of a zero-copy send against its own sequential behaviour, beside a kernel that notifies at any
/// moment, early ones included: the memory is freed once, and never while the kernel reads it.
public class KernelSendLincheck extends KernelSendOperations {

    @Override
    Events events(Lease lease) {
        KernelSend send = new KernelSend(lease, 2);
        return new Events() {
            @Override
            public void begin() {
                send.begin();
            }

            @Override
            public void accepted(long bytes, boolean notificationFollows) {
                send.accepted(bytes, notificationFollows);
            }

            @Override
            public void failed(int errno, boolean notificationFollows) {
                send.failed(errno, notificationFollows);
            }

            @Override
            public void giveUp(int errno) {
                send.giveUp(errno);
            }

            @Override
            public void notified() {
                send.notified();
            }

            @Override
            public boolean isEnded() {
                return send.isEnded();
            }
        };
    }

    @Test
    void twoThreadsAreLinearizableAndObstructionFree() {
        twoThreads().check(KernelSendLincheck.class);
    }

    @Test
    void threeThreadsAreLinearizableAndObstructionFree() {
        threeThreads().check(KernelSendLincheck.class);
    }

    /// Bytes and notifications counted, and closed by the one that finds that none is left.
    private abstract static class Broken implements Events {

        final Lease lease;
        final AtomicInteger remaining = new AtomicInteger(2);
        final AtomicInteger owed = new AtomicInteger();

        Broken(Lease lease) {
            this.lease = lease;
        }

        abstract void answered(boolean notificationFollows);

        @Override
        public void begin() {}

        @Override
        public final void accepted(long bytes, boolean notificationFollows) {
            remaining.addAndGet((int) -bytes);
            answered(notificationFollows);
        }

        @Override
        public final void failed(int errno, boolean notificationFollows) {
            remaining.set(0);
            answered(notificationFollows);
        }

        @Override
        public final void giveUp(int errno) {
            failed(errno, false);
        }

        @Override
        public final boolean isEnded() {
            return remaining.get() == 0;
        }
    }

    /// Takes the last accepted byte for the end: the bug of everybody who treats a zero-copy send as a send.
    public static class ClosesAtTheFirstEvent extends KernelSendOperations {

        @Override
        Events events(Lease lease) {
            return new Broken(lease) {
                @Override
                void answered(boolean notificationFollows) {
                    if (isEnded()) {
                        lease.close();
                    }
                }

                @Override
                public void notified() {}
            };
        }
    }

    /// Counts a notification as owed after the answer, so that one that comes early is lost.
    public static class LosesTheEarlyNotification extends KernelSendOperations {

        @Override
        Events events(Lease lease) {
            return new Broken(lease) {
                @Override
                void answered(boolean notificationFollows) {
                    if (notificationFollows) {
                        owed.incrementAndGet();
                    }
                    closeIfDone();
                }

                @Override
                public void notified() {
                    if (owed.get() > 0) {
                        owed.decrementAndGet();
                    }
                    closeIfDone();
                }

                private void closeIfDone() {
                    if (isEnded() && owed.get() == 0) {
                        lease.close();
                    }
                }
            };
        }
    }

    @Test
    void catchesACloseAtTheFirstEvent() {
        assertCaught(ClosesAtTheFirstEvent.class);
    }

    @Test
    void catchesALostEarlyNotification() {
        assertCaught(LosesTheEarlyNotification.class);
    }

    private static void assertCaught(Class<? extends KernelSendOperations> broken) {
        Error caught =
                assertThrows(LincheckAssertionError.class, () -> twoThreads().check(broken));
        assertTrue(caught.getMessage().contains("Validation"), caught::getMessage);
    }
}
