// SPDX-License-Identifier: Apache-2.0
/// Who keeps a thing alive: a count of holders, and one claim per holder.
@SuppressWarnings("module") // those that an export names are built later
module io.bulla.refcount {
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.refcount;
    exports io.bulla.refcount.held;
    exports io.bulla.refcount.internal to
            io.bulla.buffer,
            io.bulla.pool,
            io.bulla.fanout,
            io.bulla.posix,
            io.bulla.fabric,
            io.bulla.registration,
            io.bulla.interop.websocket,
            io.bulla.interop.grpc,
            io.bulla.interop.flight,
            io.bulla.interop.netty,
            io.bulla.runtime.oob,
            io.bulla.runtime.checkpoint;
}
