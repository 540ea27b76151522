// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.bypass;

import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.runtime.oob.internal.core.BulkSettings;
import io.bulla.runtime.oob.internal.core.NodeLog;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Whether a line is offered to one peer: not for a while after one has failed, so that a device that
/// does not work costs a reconnect now and then, and no message. One event loop's.
public final class BulkBackoff {

    private static final long FIRST_PAUSE_NANOS = 1_000_000_000;
    private static final int DOUBLINGS = 6;

    private final BulkTransport transport;
    private final long above;
    private final String name;
    private int failures;
    private long pausesUntil = Long.MIN_VALUE;

    private BulkBackoff(BulkSettings settings, int rank, int peer) {
        this.transport = settings.transport();
        this.above = settings.above();
        this.name = "rank " + peer + " of " + rank;
    }

    /// @return `null` if connections carry everything
    public static @Nullable BulkBackoff of(@Nullable BulkSettings settings, int rank, int peer) {
        return settings == null ? null : new BulkBackoff(settings, rank, peer);
    }

    /// Messages of at least so many bytes.
    long above() {
        return above;
    }

    /// @param awake time that counts
    /// @return `null` if none is to be had now
    @Nullable
    public BulkLine open(long awake, Consumer<IOException> failed) {
        if (failures > 0 && awake < pausesUntil) {
            return null;
        }
        try {
            return transport.open(name, failed);
        } catch (IOException | RuntimeException refused) {
            failed(awake, refused);
            return null;
        }
    }

    public void failed(long awake, Throwable why) {
        long pause = FIRST_PAUSE_NANOS << Math.min(failures++, DOUBLINGS);
        pausesUntil = awake + pause;
        NodeLog.LOG.log(
                Level.WARNING,
                "bulk transport failed: peer=" + name + " reason=" + why.getMessage()
                        + "; by the connection for millis=" + pause / 1_000_000);
    }

    void worked() {
        failures = 0;
    }
}
