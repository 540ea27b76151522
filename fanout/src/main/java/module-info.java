// SPDX-License-Identifier: Apache-2.0
/// One sealed message to many subscribers: bounds, policies for the slow, topics; without a transport.
module io.bulla.fanout {
    requires transitive io.bulla.buffer;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.fanout;
}
