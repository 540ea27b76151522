// SPDX-License-Identifier: Apache-2.0
/// Nodes that send each other tagged messages and broadcasts, out of band.
module io.bulla.runtime.oob {
    requires transitive io.bulla.buffer;
    requires transitive io.bulla.pack;
    requires io.bulla.interop.netty;
    requires transitive io.netty.buffer;
    requires transitive io.netty.transport;
    requires io.netty.common;
    requires io.netty.handler;
    requires jdk.jfr;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.runtime.oob;
    exports io.bulla.runtime.oob.bulk;
    exports io.bulla.runtime.oob.cut;
    exports io.bulla.runtime.oob.security;
    exports io.bulla.runtime.oob.topology;
}
