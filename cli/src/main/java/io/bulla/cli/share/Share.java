// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.posix.memfd.SealedFileHandoff;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;

/// One file, handed to many processes.
///
/// ```
/// a receiver: starts, practises, connects: index        'G'                 'H', held         'V', verified, or 'X'
/// this one:                                       'G'         seal or bytes            'G'
///                                                  |_____ each round but the last ends here, and all let go
/// ```
///
/// Each step is done by all before the next one: nothing is handed over before all wait for it, and none
/// verifies before all hold the bytes, so that the first figure has neither a start nor a digest in it.
final class Share {

    private static final long FORMAT = 0;
    // the threads of that many new JVMs come to rest
    private static final int QUIET_MILLIS = 300;
    private static final long READ_BYTES = 1 << 20;

    /// Its outcome.
    ///
    /// @param bytes of the file
    /// @param heldNanos from the first hand-over until every process has said that it has the bytes: the median of
    ///     the rounds
    /// @param nanos from the first hand-over of the last round until every process has said that the bytes are
    ///     right, or wrong
    /// @param verified processes whose digest was right
    record Outcome(long bytes, long heldNanos, long nanos, int verified) {}

    private Share() {}

    /// @throws IOException if the file cannot be read, a process dies, or the time is over
    static Outcome run(ShareOptions options) throws IOException, InterruptedException {
        Warmup.run();
        return switch (options.send()) {
            case SEAL -> seal(options);
            case SLAB -> slab(options);
            case COPY -> copy(options);
        };
    }

    private static Outcome seal(ShareOptions options) throws IOException, InterruptedException {
        MemfdSource guarded = MemfdSource.create(MemoryBudget.unlimited(), null);
        try (SealedBuffer content = read(options.file(), guarded);
                Receivers receivers = new Receivers(options, content.byteSize());
                SealedFileHandoff shared =
                        SealedFileHandoff.share(content, FORMAT, guarded).moveWithDigest()) {
            receivers.start("");
            return handOver(receivers, options.rounds(), content, link -> shared.sendTo(link.socket()));
        }
    }

    private static Outcome slab(ShareOptions options) throws IOException, InterruptedException {
        try (ArenaSource arenas = ArenaSource.create(MemoryBudget.unlimited(), null);
                SealedBuffer content = read(options.file(), arenas);
                Receivers receivers = new Receivers(options, content.byteSize())) {
            Warmup.slabs(receivers.folder());
            try (SlabSending sending = new SlabSending(content, receivers.folder(), options.processes())) {
                receivers.start(sending.path().toString());
                sending.awaitAll();
                return handOver(receivers, options.rounds(), content, sending::to);
            }
        }
    }

    private static Outcome copy(ShareOptions options) throws IOException, InterruptedException {
        try (ArenaSource arenas = ArenaSource.create(MemoryBudget.unlimited(), null);
                SealedBuffer content = read(options.file(), arenas);
                Receivers receivers = new Receivers(options, content.byteSize())) {
            receivers.start("");
            return handOver(receivers, options.rounds(), content, copying(content));
        }
    }

    private interface HandOver {
        void to(Link receiver) throws IOException;
    }

    private static HandOver copying(SealedBuffer content) {
        byte[] digest = Bytes.sha256(content);
        return link -> {
            link.sendLong(content.byteSize());
            link.send(digest);
            link.socket().moveAndSend(content.share());
        };
    }

    private static Outcome handOver(Receivers receivers, int rounds, SealedBuffer content, HandOver one)
            throws IOException, InterruptedException {
        long[] held = new long[rounds];
        long start = 0;
        for (int round = 0; round < rounds; round++) {
            receivers.each(link -> link.send(Link.GO));
            receivers.each(Link::receiveByte);
            Thread.sleep(QUIET_MILLIS);
            start = System.nanoTime();
            receivers.each(one::to);
            receivers.each(Link::receiveByte);
            held[round] = System.nanoTime() - start;
            receivers.each(link -> link.send(Link.GO));
        }
        int[] verified = new int[1];
        receivers.each(link -> verified[0] += link.receiveByte() == Link.VERIFIED ? 1 : 0);
        long nanos = System.nanoTime() - start;
        Arrays.sort(held);
        return new Outcome(content.byteSize(), held[rounds / 2], nanos, verified[0]);
    }

    private static SealedBuffer read(Path file, MemorySource source) throws IOException {
        try (FileChannel channel = open(file);
                BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, channel.size()))) {
            // to its end: a file of the kernel's says that it has no bytes, and one that grows has more than it said
            while (builder.readFrom(channel, READ_BYTES) >= 0) {}
            return builder.seal();
        }
    }

    private static FileChannel open(Path file) throws IOException {
        try {
            if (Files.isDirectory(file)) {
                throw new IOException("cannot read " + file + ": a directory");
            }
            return FileChannel.open(file);
        } catch (NoSuchFileException e) {
            throw new IOException("cannot read " + file + ": no such file", e);
        } catch (AccessDeniedException e) {
            throw new IOException("cannot read " + file + ": not allowed", e);
        }
    }
}
