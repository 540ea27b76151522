// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.runtime.oob.BroadcastSignatures;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.Security;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.topology.Radix;
import java.time.Duration;

/// What all nodes of a command are made of.
///
/// @param meters where their memory comes from
/// @param radix of the tree
/// @param limit of a message, in bytes
/// @param policy of a broadcast's sends
/// @param peerTimeout after which a peer that cannot be reached has failed
/// @param sign whether broadcasts are signed by their origin, and others refused
record NodeParts(Meters meters, Radix radix, long limit, SendPolicy policy, Duration peerTimeout, boolean sign) {

    OobNodeBuilder node(int rank, int size, Security security) {
        OobNodeBuilder builder = OobNode.builder(rank, size)
                .memory(meters.source())
                .allocator(meters.allocator())
                .security(security)
                .signatures(sign ? BroadcastSignatures.REQUIRE : BroadcastSignatures.NONE)
                .limit(limit)
                .routing(radix)
                .sends(policy)
                .peerTimeout(peerTimeout)
                // a message is never copied here, however short: copies are what this counts
                .coalesceBelow(0);
        return meters.local() == null
                ? builder
                : builder.localMemory(meters.local().memory());
    }
}
