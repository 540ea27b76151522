// SPDX-License-Identifier: Apache-2.0
/// Checkpoints of nodes as files, with the messages that are in flight.
module io.bulla.runtime.checkpoint {
    requires transitive io.bulla.buffer;
    requires transitive io.bulla.pack;
    requires transitive io.bulla.runtime.oob;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.runtime.checkpoint;
}
