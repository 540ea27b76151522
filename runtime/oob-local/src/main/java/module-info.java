// SPDX-License-Identifier: Apache-2.0
/// Nodes of one host that lend each other their messages in shared slabs. Needs
/// `--enable-native-access=io.bulla.interop.posix`.
module io.bulla.runtime.oob.local {
    requires transitive io.bulla.runtime.oob;
    requires transitive io.bulla.interop.posix;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.runtime.oob.local;
}
