// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

/// Treatment of a stream of a [Broadcast] whose queue is full.
public enum SlowStream {
    /// Its oldest waiting messages are dropped, and counted. For streams where only the newest state matters.
    DROP_OLDEST,

    /// The stream is closed with `RESOURCE_EXHAUSTED`: a reader sees every message up to the end, or an error. The
    /// default.
    DROP_STREAM,

    /// The publisher waits for room, for all streams together no longer than its patience; a stream that still has
    /// none is dropped as by `DROP_STREAM`.
    WAIT
}
