// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.refcount.LeaseTally;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A lender of slabs, a media driver, and for each side of a connection a client of the driver.
final class LendingPair implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(60);
    // a driver that is to be killed: a test waits that long for its clients to see it
    private static final long SOON_MILLIS = 3_000;
    static final int PLACES = 20;
    static final int RETURNS = 21;

    final LeaseTally handles = new LeaseTally();
    final MemoryBudget budget = new MemoryBudget(32 * SlabSource.SLAB);
    final ArenaSource copies = ArenaSource.create();
    final List<Throwable> errors = new CopyOnWriteArrayList<>();
    final String channel;
    private final @Nullable MediaDriver driver;
    private final Path aeronFolder;
    final SharedSlabSource memory;
    final SlabLender slabs;
    final Aeron lendersAeron;
    final Aeron borrowersAeron;
    final ExclusivePublication places;
    final Subscription returns;
    final Subscription placesAtBorrower;
    final ExclusivePublication returnsOfBorrower;
    final SlabPeer peer;
    final SlabBorrower plain;
    final AeronLender lender;

    LendingPair(Path parent, SlabQuota quota, int termBytes) throws Exception {
        this(parent, quota, termBytes, driver(parent.resolve("aeron")), parent.resolve("aeron"));
    }

    /// @param driver closed with this; or `null` if it is another process's
    LendingPair(Path parent, SlabQuota quota, int termBytes, @Nullable MediaDriver driver, Path aeronFolder)
            throws Exception {
        channel = "aeron:ipc?term-length=" + termBytes;
        this.driver = driver;
        this.aeronFolder = aeronFolder;
        memory = SharedSlabSource.create(
                SlabSource.builder().budget(budget).idle(Duration.ofHours(1)).trace(handles));
        slabs = SlabLender.open(folder(parent), memory, quota);
        lendersAeron = client();
        borrowersAeron = client();
        places = lendersAeron.addExclusivePublication(channel, PLACES);
        returns = lendersAeron.addSubscription(channel, RETURNS);
        placesAtBorrower = borrowersAeron.addSubscription(channel, PLACES);
        returnsOfBorrower = borrowersAeron.addExclusivePublication(channel, RETURNS);
        plain = SlabBorrower.connect(slabs.path(), 7, copies, 1 << 22);
        peer = Objects.requireNonNull(slabs.accept(PATIENCE));
        lender = AeronLender.over(peer, places, returns);
    }

    static Path folder(Path parent) throws IOException {
        return Files.createDirectory(
                parent.resolve("f"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    static MediaDriver driver(Path folder) {
        return MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(folder.toString())
                .threadingMode(ThreadingMode.SHARED)
                .dirDeleteOnStart(true)
                .termBufferSparseFile(true));
    }

    Aeron client() {
        return Aeron.connect(new Aeron.Context()
                .aeronDirectoryName(aeronFolder.toString())
                .driverTimeoutMs(driver == null ? SOON_MILLIS : 10_000)
                .errorHandler(errors::add));
    }

    Path aeronFolder() {
        return aeronFolder;
    }

    AeronBorrower borrow() {
        return AeronBorrower.over(plain, placesAtBorrower, returnsOfBorrower);
    }

    /// Until both say that Aeron carries.
    void awaitAeron(AeronBorrower borrower) {
        await(() -> {
            poll(lender);
            if (none(borrower) != null) {
                throw new AssertionError("a message that was not lent");
            }
            return lender.isOverAeron()
                    && borrower.isOverAeron()
                    && places.availableWindow() > 0
                    && returnsOfBorrower.availableWindow() > 0;
        });
    }

    static void poll(AeronLender lender) {
        try {
            lender.poll();
        } catch (IOException gone) {
            throw new AssertionError(gone);
        }
    }

    static SealedBuffer none(AeronBorrower borrower) {
        try {
            return borrower.poll();
        } catch (IOException ended) {
            throw new AssertionError(ended);
        }
    }

    /// A message that says its number.
    SealedBuffer message(long number, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, bytes)) {
            return builder.putLong(number)
                    .put(new byte[bytes - 16])
                    .putLong(~number)
                    .seal();
        }
    }

    boolean lend(long number, int bytes) throws IOException {
        try (SealedBuffer message = message(number, bytes)) {
            return lender.lend(message);
        }
    }

    static long number(SealedBuffer message) {
        BufferReader words = BufferReader.of(message);
        long number = words.getLong();
        if (words.position(message.byteSize() - 8).getLong() != ~number) {
            throw new AssertionError("other bytes: number=" + number);
        }
        return number;
    }

    /// Polls both sides until a message is there.
    SealedBuffer next(AeronBorrower borrower) {
        return next(borrower, () -> poll(lender));
    }

    /// Polls the borrower alone.
    SealedBuffer nextOf(AeronBorrower borrower) {
        return next(borrower, () -> {});
    }

    private static SealedBuffer next(AeronBorrower borrower, Runnable meanwhile) {
        SealedBuffer[] message = new SealedBuffer[1];
        await(() -> {
            meanwhile.run();
            message[0] = none(borrower);
            return message[0] != null;
        });
        return message[0];
    }

    /// Every lease is given back, and no handle is open.
    void awaitNothingLent() {
        await(() -> {
            poll(lender);
            return peer.leases() == 0;
        });
        await(() -> handles.open() == 0);
    }

    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("waited " + PATIENCE);
            }
            Thread.yield();
        }
    }

    /// All of it comes to its end, and nothing stays booked.
    @Override
    public void close() {
        plain.close();
        try {
            slabs.close(PATIENCE);
            lendersAeron.close();
            borrowersAeron.close();
            if (driver != null) {
                driver.close();
            }
            memory.close(PATIENCE);
            copies.close(PATIENCE);
        } catch (InterruptedException over) {
            throw new AssertionError(over);
        }
        if (budget.used() != 0 || handles.open() != 0) {
            throw new AssertionError("left: bytes=" + budget.used() + " handles=" + handles.open());
        }
    }
}
