// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import io.aeron.Aeron;
import io.aeron.FragmentAssembler;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.aeron.SealedOffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/// Fan-out within one host by Aeron IPC: one publication, whose log every subscription reads. The media driver
/// runs on a thread of its own, in this process.
///
/// `offer` is Aeron's own, out of native memory; `sealed-offer` is ours. Both copy once into the log, however
/// many peers there are; messages longer than a fragment (65504 bytes, the most that Aeron allows, so that it is
/// at its best) are put together by each peer, in another copy.
final class AeronFanOut implements FanOut {

    private static final String CHANNEL = "aeron:ipc?term-length=64m|mtu=65504";
    private static final int STREAM = 7;
    private static final int FRAGMENTS = 64;
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    private final int peers;
    private final ArenaSource source = ArenaSource.create();
    private final SealedBuffer sealed;
    private final UnsafeBuffer bytes;
    private final boolean ours;
    private final Arrivals arrivals;
    private final Path folder;
    private final MediaDriver driver;
    private final Aeron aeron;
    private final Publication publication;
    private final Subscription[] subscriptions;
    private final FragmentHandler[] assemblers;

    AeronFanOut(String design, Message message, int peers) throws IOException {
        this.peers = peers;
        this.ours = design.equals("sealed-offer");
        this.sealed = message.seal(source);
        this.bytes = new UnsafeBuffer(
                ByteBuffer.allocateDirect(message.size()).put(message.bytes()).flip());
        this.arrivals = new Arrivals(message, peers);
        this.folder = Files.isWritable(SHARED_MEMORY)
                ? Files.createTempDirectory(SHARED_MEMORY, "bulla")
                : Files.createTempDirectory("bulla");
        this.driver = MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(folder.resolve("aeron").toString())
                .threadingMode(ThreadingMode.SHARED)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true)
                .termBufferSparseFile(true));
        this.aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()));
        this.subscriptions = new Subscription[peers];
        this.assemblers = new FragmentHandler[peers];
        for (int i = 0; i < peers; i++) {
            int peer = i;
            subscriptions[i] = aeron.addSubscription(CHANNEL, STREAM);
            assemblers[i] = new FragmentAssembler((buffer, offset, length, _) -> took(peer, buffer, offset, length));
        }
        this.publication = aeron.addPublication(CHANNEL, STREAM);
        for (Subscription each : subscriptions) {
            await(each::isConnected);
        }
    }

    private void took(int peer, DirectBuffer from, int offset, int length) {
        ByteBuffer whole = from.byteBuffer();
        // the log is a mapped buffer, the assembler's is an array
        arrivals.took(
                peer,
                whole == null
                        ? ByteBuffer.wrap(from.byteArray(), offset, length)
                        : whole.duplicate()
                                .limit(from.wrapAdjustment() + offset + length)
                                .position(from.wrapAdjustment() + offset));
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void run(int times) {
        for (int i = 0; i < times; i++) {
            long wanted = arrivals.total() + (long) peers * bytes.capacity();
            while (!offered()) {
                poll();
            }
            while (arrivals.total() < wanted) {
                poll();
            }
        }
    }

    private boolean offered() {
        return ours ? SealedOffer.offer(publication, sealed).isAccepted() : publication.offer(bytes) > 0;
    }

    private void poll() {
        for (int i = 0; i < peers; i++) {
            subscriptions[i].poll(assemblers[i], FRAGMENTS);
        }
    }

    @Override
    public void compare(boolean yes) {
        arrivals.compare(yes);
    }

    @Override
    public void close() throws IOException {
        aeron.close();
        driver.close();
        Files.deleteIfExists(folder);
        sealed.close();
        source.close();
    }
}
