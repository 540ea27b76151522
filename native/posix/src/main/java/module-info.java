// SPDX-License-Identifier: Apache-2.0
/// System calls on sealed buffers. Needs `--enable-native-access=io.bulla.posix`.
module io.bulla.posix {
    requires transitive io.bulla.buffer;
    requires transitive io.bulla.pool;
    requires transitive io.bulla.iovec;
    requires transitive io.bulla.refcount;
    // events of lending: without it there are none
    requires static jdk.jfr;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.posix;
    exports io.bulla.posix.socket;
    exports io.bulla.posix.memfd;
    exports io.bulla.posix.file;
    exports io.bulla.posix.lending;
}
