// SPDX-License-Identifier: Apache-2.0
/// Nodes of one host that lend each other their messages in shared slabs. Needs
/// `--enable-native-access=io.bulla.posix`.
module io.bulla.runtime.oob.local {
    requires transitive io.bulla.runtime.oob;
    requires transitive io.bulla.posix;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.runtime.oob.local;
}
