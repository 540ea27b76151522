// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.aeron.Aeron;
import io.aeron.FragmentAssembler;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import io.bulla.bench.numbers.Medians;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/// Aeron IPC from one JVM to another as fast as it goes, as [SharedPair] does it one way; its media driver is on a
/// thread of the sender's. The receiver polls, and yields if there is nothing: Aeron has no wait that sleeps until a
/// message is there.
///
/// Argument: the message's bytes. Prints nanoseconds for a message, the median of the windows.
public final class AeronPair {

    private static final String CHANNEL = "aeron:ipc?term-length=64m|mtu=65504";
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final int STREAM = 7;
    private static final int FRAGMENTS = 64;
    private static final int PAUSE_NANOS = 50_000;
    private static final int RECEIVER = 1;

    private AeronPair() {}

    /// @throws Exception if the other process ends
    public static void main(String... args) throws Exception {
        int bytes = Integer.parseInt(args[0]);
        if (args.length > 1) {
            JavaProcess.endWithInput();
            receive(args[1], Board.open(Path.of(args[2])), bytes);
            return;
        }
        try (Folder folder = Folder.create();
                MediaDriver media = driver();
                Aeron aeron = client(media.aeronDirectoryName());
                Publication publication = aeron.addPublication(CHANNEL, STREAM)) {
            Board board = Board.open(folder.board());
            Process other = JavaProcess.start(
                    List.of(),
                    AeronPair.class,
                    args[0],
                    media.aeronDirectoryName(),
                    folder.board().toString());
            try {
                send(publication, board, other, bytes);
            } finally {
                other.destroyForcibly().waitFor();
            }
        }
    }

    /// On a thread of this process's.
    static MediaDriver driver() {
        return MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(SHARED_MEMORY
                        .resolve("bulla-aeron-" + ProcessHandle.current().pid())
                        .toString())
                .threadingMode(ThreadingMode.SHARED)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true));
    }

    static Aeron client(String driver) {
        return Aeron.connect(new Aeron.Context().aeronDirectoryName(driver));
    }

    private static void send(Publication publication, Board board, Process other, int bytes) throws Exception {
        ByteBuffer message = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        message.putLong(0, bytes).putLong(bytes - Long.BYTES, ~bytes);
        UnsafeBuffer offered = new UnsafeBuffer(message);
        while (!publication.isConnected()) {
            Thread.sleep(1);
        }
        double[] nanos = new double[SharedPair.WINDOWS];
        long sent = 0;
        for (int i = -1; i < nanos.length; i++) {
            long length = i < 0 ? SharedPair.WARM_UP_NANOS : SharedPair.WINDOW_NANOS;
            long before = sent;
            long start = System.nanoTime();
            do {
                while (publication.offer(offered) < 0) {
                    Thread.yield();
                }
                sent++;
            } while (System.nanoTime() - start < length);
            board.await(RECEIVER, sent, PAUSE_NANOS, other);
            if (i >= 0) {
                nanos[i] = (double) (System.nanoTime() - start) / (sent - before);
            }
        }
        System.out.println(Medians.of(nanos));
    }

    private static void receive(String driver, Board board, int bytes) {
        long[] taken = new long[1];
        FragmentHandler whole = new FragmentAssembler((buffer, offset, length, _) -> {
            look(buffer, offset, length, bytes);
            board.set(RECEIVER, ++taken[0]);
        });
        try (Aeron aeron = client(driver);
                Subscription subscription = aeron.addSubscription(CHANNEL, STREAM)) {
            while (true) {
                if (subscription.poll(whole, FRAGMENTS) == 0) {
                    Thread.yield();
                }
            }
        }
    }

    static void look(DirectBuffer buffer, int offset, int length, int bytes) {
        if (length != bytes
                || buffer.getLong(offset) != bytes
                || buffer.getLong(offset + length - Long.BYTES) != ~bytes) {
            throw new IllegalStateException("another message: bytes=" + length + " wanted=" + bytes);
        }
    }
}
