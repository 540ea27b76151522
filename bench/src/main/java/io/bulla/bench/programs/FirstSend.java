// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.file.FixedBufferOperation;
import io.bulla.posix.file.FixedBufferTable;
import io.bulla.posix.memfd.HugePages;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.registration.PinBudget;
import io.bulla.registration.RegistrationUse;
import io.bulla.registration.Registrations;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// Sends a page from a slab of 16 MiB that no device knows yet, and prints the median of the processors'
/// microseconds: the kernel finds the pages, pins them, and sends. Argument: `huge` or `small`.
public final class FirstSend {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SIZE = 16 << 20;
    private static final int SENT = 4096;
    private static final int SLABS = 15;
    private static final int WARM_UP = 50_000;

    private FirstSend() {}

    public static void main(String... args) throws Exception {
        SlabSource memory = SlabSource.builder()
                .supplier(args[0].equals("huge") ? new HugePages() : new SmallPages())
                .idle(Duration.ofHours(1))
                .build();
        PosixSocket[] pair = PosixSocket.unixPair();
        List<SealedBuffer> fresh = new ArrayList<>();
        double[] micros = new double[SLABS];
        FixedBufferTable table = FixedBufferTable.open(16);
        try (Registrations registrations = Registrations.of(table, new PinBudget(1L << 30));
                Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(SENT);
            warmUp(memory, table, registrations, pair, into);
            for (int i = 0; i < SLABS; i++) {
                SealedBuffer buffer = filled(memory, SIZE);
                fresh.add(buffer);
                long start = ProcessorTime.nanos();
                send(table, registrations, buffer, pair[0]);
                micros[i] = (ProcessorTime.nanos() - start) / 1000.0;
                receiveAndForget(table, registrations, pair[1], into);
            }
        }
        System.out.println(Medians.of(micros));
        fresh.forEach(SealedBuffer::close);
        pair[0].close();
        pair[1].close();
        memory.close(PATIENCE);
    }

    /// The slab is what is fresh, and not the code: one slab, registered, sent from and forgotten, again and again.
    private static void warmUp(
            SlabSource memory,
            FixedBufferTable table,
            Registrations registrations,
            PosixSocket[] pair,
            MemorySegment into)
            throws Exception {
        try (SealedBuffer buffer = filled(memory, SENT)) {
            for (int i = 0; i < WARM_UP; i++) {
                send(table, registrations, buffer, pair[0]);
                receiveAndForget(table, registrations, pair[1], into);
            }
        }
    }

    private static void receiveAndForget(
            FixedBufferTable table, Registrations registrations, PosixSocket from, MemorySegment into)
            throws Exception {
        for (long at = 0; at < SENT; ) {
            at += from.receive(into.asSlice(at));
        }
        registrations.trim();
        registrations.trim();
        table.progress(0);
    }

    private static SealedBuffer filled(SlabSource memory, int size) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, size)) {
            return builder.put(new byte[size]).seal();
        }
    }

    private static void send(FixedBufferTable table, Registrations registrations, SealedBuffer buffer, PosixSocket to)
            throws Exception {
        try (RegistrationUse use = Objects.requireNonNull(registrations.use(buffer, 0), registrations::lastRefusal)) {
            long address = buffer.iovec().lent().region(0).address();
            FixedBufferOperation sent = table.send(to, use.registration(), address, SENT);
            while (!sent.isDone()) {
                table.progress(100);
            }
            if (sent.byteCount() != SENT) {
                throw new IllegalStateException("sent in part: bytes=" + sent.byteCount());
            }
        }
    }
}
