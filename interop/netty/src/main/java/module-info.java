// SPDX-License-Identifier: Apache-2.0
/// Sealed buffers on Netty channels.
module io.bulla.interop.netty {
    requires transitive io.bulla.buffer;
    requires io.bulla.iovec;
    requires io.bulla.refcount;
    requires transitive io.netty.buffer;
    requires transitive io.netty.transport;
    requires io.netty.common;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.interop.netty;
}
