// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.aeron.Aeron;
import io.aeron.FragmentAssembler;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.aeron.AeronBorrower;
import io.bulla.interop.aeron.AeronLender;
import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabQuota;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;

/// The time of a processor that a message takes at both ends, which take turns on one thread: no end waits, so
/// nothing is counted but the work. The media driver's own thread is not counted.
///
/// Arguments: `places`, lent messages whose places go over Aeron IPC, `socket`, the same over the unix socket, or
/// `aeron`, bare Aeron IPC; the message's bytes. Prints nanoseconds for a message, the median of the windows.
public final class OneThread {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String CHANNEL = "aeron:ipc?term-length=64m|mtu=65504";
    private static final int THERE = 7;
    private static final int BACK = 8;
    // so many bytes are under way at most: less than a window of Aeron's
    private static final int UNDER_WAY = 16 << 20;
    private static final int MOST = 64;
    private static final int FRAGMENTS = 256;

    private OneThread() {}

    /// One message there, and one that is taken.
    private interface Ends {
        /// @return false if it cannot be now
        boolean give() throws IOException;

        /// @return how many were taken
        int take() throws IOException;
    }

    /// @throws Exception if an end fails
    public static void main(String... args) throws Exception {
        Look look = Look.of(Integer.parseInt(args[1]), false);
        if (args[0].equals("socket")) {
            lent(look, null);
            return;
        }
        try (MediaDriver media = AeronPair.driver();
                Aeron aeron = AeronPair.client(media.aeronDirectoryName())) {
            if (args[0].equals("aeron")) {
                bare(look, aeron);
            } else {
                lent(look, aeron);
            }
        }
    }

    private static void bare(Look look, Aeron aeron) throws Exception {
        int bytes = look.bytes();
        ByteBuffer message = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        message.putLong(0, bytes).putLong(bytes - Long.BYTES, ~bytes);
        UnsafeBuffer offered = new UnsafeBuffer(message);
        try (Subscription subscription = aeron.addSubscription(CHANNEL, THERE);
                Publication publication = aeron.addExclusivePublication(CHANNEL, THERE)) {
            while (!publication.isConnected() || subscription.imageCount() == 0) {
                Thread.sleep(1);
            }
            int[] taken = new int[1];
            FragmentAssembler whole = new FragmentAssembler((log, offset, length, _) -> {
                AeronPair.look(log, offset, length, bytes);
                taken[0]++;
            });
            measure(bytes, new Ends() {
                @Override
                public boolean give() {
                    return publication.offer(offered) > 0;
                }

                @Override
                public int take() {
                    taken[0] = 0;
                    subscription.poll(whole, FRAGMENTS);
                    return taken[0];
                }
            });
        }
    }

    /// @param aeron for the places; `null` if they go over the socket
    private static void lent(Look look, Aeron aeron) throws Exception {
        try (Folder folder = Folder.create();
                ArenaSource copies = ArenaSource.create(MemoryBudget.unlimited(), null);
                SharedSlabSource memory =
                        SharedSlabSource.create(SlabSource.builder().budget(MemoryBudget.unlimited()));
                SlabLender slabs =
                        SlabLender.open(folder.path(), memory, new SlabQuota(Giving.LEASES, Long.MAX_VALUE));
                SlabBorrower plain = SlabBorrower.connect(slabs.path(), 0, copies, Long.MAX_VALUE);
                SealedBuffer message = look.message(memory)) {
            var peer = Objects.requireNonNull(slabs.accept(PATIENCE), "borrower");
            if (aeron == null) {
                measure(look.bytes(), new Ends() {
                    @Override
                    public boolean give() throws IOException {
                        return peer.lend(message);
                    }

                    @Override
                    public int take() throws IOException {
                        return taken(look, plain.receive());
                    }
                });
                return;
            }
            AeronLender lender = AeronLender.over(
                    peer, aeron.addExclusivePublication(CHANNEL, THERE), aeron.addSubscription(CHANNEL, BACK));
            try (AeronBorrower borrower = AeronBorrower.over(
                    plain, aeron.addSubscription(CHANNEL, THERE), aeron.addExclusivePublication(CHANNEL, BACK))) {
                while (!lender.isOverAeron() || !borrower.isOverAeron()) {
                    lender.poll();
                    borrower.poll();
                    Thread.sleep(1);
                }
                measure(look.bytes(), new Ends() {
                    @Override
                    public boolean give() throws IOException {
                        return lender.lend(message);
                    }

                    @Override
                    public int take() throws IOException {
                        SealedBuffer next = borrower.poll();
                        return next == null ? 0 : taken(look, next);
                    }
                });
                if (!lender.isOverAeron()) {
                    throw new IllegalStateException("it went over the socket: " + lender);
                }
            }
        }
    }

    private static int taken(Look look, SealedBuffer message) {
        try (message) {
            look.at(message);
        }
        return 1;
    }

    private static void measure(int bytes, Ends ends) throws IOException {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        int batch = Math.clamp(UNDER_WAY / bytes, 1, MOST);
        double[] nanos = new double[SharedPair.WINDOWS];
        for (int i = -1; i < nanos.length; i++) {
            long length = i < 0 ? SharedPair.WARM_UP_NANOS : SharedPair.WINDOW_NANOS;
            long messages = 0;
            long start = System.nanoTime();
            long used = threads.getCurrentThreadCpuTime();
            do {
                int given = 0;
                while (given < batch && ends.give()) {
                    given++;
                }
                for (int taken = 0; taken < given; ) {
                    taken += ends.take();
                }
                messages += given;
            } while (System.nanoTime() - start < length);
            if (i >= 0) {
                nanos[i] = (double) (threads.getCurrentThreadCpuTime() - used) / messages;
            }
        }
        System.out.println(Medians.of(nanos));
    }
}
