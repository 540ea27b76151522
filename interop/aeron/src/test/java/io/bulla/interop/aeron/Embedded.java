// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.bulla.buffer.SealedBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;

/// A media driver in this process, and one client of it.
final class Embedded implements AutoCloseable {

    static final String IPC = "aeron:ipc?term-length=8m";
    static final String UDP = "aeron:udp?endpoint=127.0.0.1:0|term-length=8m";
    static final int STREAM = 10;

    final MediaDriver driver;
    final Aeron aeron;
    final List<Throwable> errors = new CopyOnWriteArrayList<>();

    Embedded(Path folder) {
        driver = MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(folder.resolve("aeron").toString())
                .threadingMode(ThreadingMode.SHARED)
                .dirDeleteOnStart(true)
                .termBufferSparseFile(true));
        aeron = Aeron.connect(new Aeron.Context()
                .aeronDirectoryName(driver.aeronDirectoryName())
                .errorHandler(errors::add));
    }

    Subscription subscribe(String channel, SealedAssembler assembler) {
        return aeron.addSubscription(channel, STREAM, null, assembler::onUnavailableImage);
    }

    Publication publish(Subscription to) {
        int before = to.imageCount();
        return connected(aeron.addPublication(channelTo(to), STREAM), to, before);
    }

    ExclusivePublication publishAlone(Subscription to) {
        return publishAlone(to, channelTo(to));
    }

    ExclusivePublication publishAlone(Subscription to, String channel) {
        int before = to.imageCount();
        return connected(aeron.addExclusivePublication(channel, STREAM), to, before);
    }

    /// Subscriptions of port 0 say what port they got.
    private static String channelTo(Subscription to) {
        if (!to.channel().contains("udp")) {
            return to.channel();
        }
        await(() -> to.tryResolveChannelEndpointPort() != null);
        return to.tryResolveChannelEndpointPort();
    }

    private static <P extends Publication> P connected(P publication, Subscription to, int before) {
        await(() -> publication.isConnected() && to.imageCount() > before);
        return publication;
    }

    /// With the same buffer, until it is accepted.
    static void offer(Publication publication, SealedBuffer buffer, Runnable meanwhile) {
        await(() -> {
            meanwhile.run();
            return SealedOffer.offer(publication, buffer).isAccepted();
        });
    }

    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + 10_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("waited 10 seconds, less than what Aeron takes to unblock a claim");
            }
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        aeron.close();
        driver.close();
    }
}
