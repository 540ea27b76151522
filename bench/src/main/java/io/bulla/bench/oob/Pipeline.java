// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Medians;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// A stream of messages of which so many are on their way at a time, measured in windows of time.
///
/// @param bytes of a message
/// @param depth messages on their way: 1 MiB in all, but at least 8 and at most 1024
/// @param secure whether the connection is TLS
record Pipeline(int bytes, int depth, boolean secure) {

    private static final int IN_ALL = 1 << 20;
    private static final int LEAST = 8;
    private static final int MOST = 1024;
    private static final long WINDOW_MILLIS = 500;

    /// Arguments of a program: bytes, and `plain` or `tls`.
    static Pipeline of(String bytes, String security) {
        int size = Integer.parseInt(bytes);
        return new Pipeline(size, Math.clamp(IN_ALL / size, LEAST, MOST), security.equals("tls"));
    }

    /// Nanoseconds per message, the median of the windows.
    ///
    /// @param over messages that have been answered so far
    static double nanosPerMessage(LongSupplier over) throws InterruptedException {
        return measure(over, System::nanoTime);
    }

    /// How much of something one message takes, the median of the windows.
    ///
    /// @param over messages that have been answered so far
    /// @param taken so far
    static double measure(LongSupplier over, LongSupplier taken) throws InterruptedException {
        Effort effort = Effort.ofProcess();
        TimeUnit.MILLISECONDS.sleep(effort.warmupMillis);
        double[] each = new double[effort.windows];
        for (int i = 0; i < each.length; i++) {
            long messages = over.getAsLong();
            long before = taken.getAsLong();
            TimeUnit.MILLISECONDS.sleep(WINDOW_MILLIS);
            long after = taken.getAsLong();
            each[i] = (double) (after - before) / (over.getAsLong() - messages);
        }
        return Medians.of(each);
    }
}
