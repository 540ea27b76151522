// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.buffer.BufferBuilder;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.posix.memfd.SealedFileHandoff;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.util.Arrays;

/// What it takes to receive a seal that is there: to look at it, and to map it.
///
/// Prints microseconds, the median, for a thread that slept the given milliseconds before each.
public final class ColdReceive {

    private static final int WARMUPS = 20_000;
    private static final int ROUNDS = 31;
    private static final int BYTES = 4096;

    private ColdReceive() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        long sleep = Long.parseLong(args[0]);
        MemfdSource source = MemfdSource.create();
        PosixSocket[] pair = PosixSocket.unixPair();
        try (SealedFileHandoff seal = SealedFileHandoff.move(
                BufferBuilder.create(source).put(new byte[BYTES]).seal(), 0, source)) {
            for (int i = 0; i < WARMUPS; i++) {
                receive(seal, pair);
            }
            double[] micros = new double[ROUNDS];
            for (int i = 0; i < ROUNDS; i++) {
                Thread.sleep(sleep);
                micros[i] = receive(seal, pair) / 1e3;
            }
            Arrays.sort(micros);
            System.out.println(micros[ROUNDS / 2]);
        }
        pair[0].close();
        pair[1].close();
    }

    private static long receive(SealedFileHandoff seal, PosixSocket[] pair) throws IOException {
        seal.sendTo(pair[0]);
        long start = System.nanoTime();
        SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], BYTES);
        long nanos = System.nanoTime() - start;
        received.close();
        return nanos;
    }
}
