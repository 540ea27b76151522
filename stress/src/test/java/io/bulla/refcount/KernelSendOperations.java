// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;

/// A sender that makes calls, beside a kernel that notifies when it likes; the kernel knows what it reads, and
/// looks whether the memory is there.
public abstract class KernelSendOperations {

    private static final int EPIPE = 32;

    private final AtomicInteger frees = new AtomicInteger();
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger readOfFreed = new AtomicInteger();
    private final Events send = events(new Claim(new RefCount(null) {
        @Override
        protected void free() {
            frees.incrementAndGet();
        }
    }));

    /// What the sender and the kernel tell.
    interface Events {

        void begin();

        void accepted(long bytes, boolean notificationFollows);

        void failed(int errno, boolean notificationFollows);

        void giveUp(int errno);

        void notified();

        boolean isEnded();
    }

    private static final class Claim extends Lease {

        Claim(RefCount count) {
            super(count);
        }
    }

    /// The machine to check, for a send of two bytes.
    abstract Events events(Lease lease);

    @Operation(nonParallelGroup = "sender")
    public boolean sendByte(@Param(gen = BooleanGen.class) boolean zeroCopy) {
        return call(zeroCopy, false);
    }

    @Operation(nonParallelGroup = "sender")
    public boolean sendIsRefused(@Param(gen = BooleanGen.class) boolean zeroCopy) {
        return call(zeroCopy, true);
    }

    private boolean call(boolean zeroCopy, boolean refused) {
        if (send.isEnded()) {
            return false;
        }
        send.begin();
        if (zeroCopy) {
            // from here on the kernel reads, and may notify before its answer is told
            reads.incrementAndGet();
        }
        if (refused) {
            send.failed(EPIPE, zeroCopy);
        } else {
            send.accepted(1, zeroCopy);
        }
        return true;
    }

    @Operation(nonParallelGroup = "sender")
    public boolean giveUp() {
        if (send.isEnded()) {
            return false;
        }
        send.giveUp(EPIPE);
        return true;
    }

    @Operation
    public boolean kernelHasDone() {
        int reading = reads.get();
        while (reading > 0) {
            if (reads.compareAndSet(reading, reading - 1)) {
                if (frees.get() > 0) {
                    readOfFreed.incrementAndGet();
                }
                send.notified();
                return true;
            }
            reading = reads.get();
        }
        return false;
    }

    /// Whatever came before: once the sender has given up and the kernel has done, it is freed, once.
    @Validate
    public void freedOnceAndNotWhileRead() {
        while (kernelHasDone()) {}
        giveUp();
        if (frees.get() != 1 || readOfFreed.get() != 0) {
            throw new AssertionError("frees=" + frees.get() + " readOfFreed=" + readOfFreed.get());
        }
    }

    static ModelCheckingOptions twoThreads() {
        return options().iterations(80).threads(2).actorsPerThread(3);
    }

    static ModelCheckingOptions threeThreads() {
        return options().iterations(40).threads(3).actorsPerThread(2);
    }

    private static ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .invocationsPerIteration(500)
                .actorsBefore(1)
                .actorsAfter(1)
                .checkObstructionFreedom(true);
    }
}
