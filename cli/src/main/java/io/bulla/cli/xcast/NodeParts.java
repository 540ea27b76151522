// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.time.Duration;

/// Settings that all nodes of a command share.
///
/// @param meters where their memory comes from
/// @param radix of the tree
/// @param limit of a message, in bytes
/// @param policy of a broadcast's sends
/// @param peerTimeout after which a peer that cannot be reached has failed
/// @param sign whether broadcasts are signed by their origin, and others refused
/// @param bulkAbove bytes of messages that go beside the connections, if there is a transport
record NodeParts(
        Meters meters, Radix radix, long limit, SendPolicy policy, Duration peerTimeout, boolean sign, long bulkAbove) {

    private static final int QUEUED_MESSAGES = 1 << 18;
    private static final long QUEUED = 1L << 30;
    private static final long MOST_QUEUED = 1L << 39;

    /// @throws IOException if the security is too good for a transport beside the connections
    OobNodeBuilder node(int rank, int size, Security security) throws IOException {
        OobNodeBuilder builder = builder(rank, size, security);
        if (meters.bulk() == null) {
            return builder;
        }
        if (!security.name().equals(Security.plaintext().name())) {
            throw new IOException("--bulk carries bytes as they are: security=" + security.name());
        }
        return builder.bulk(meters.bulk(), bulkAbove);
    }

    private OobNodeBuilder builder(int rank, int size, Security security) {
        OobNodeBuilder builder = OobNode.builder(rank, size)
                .memory(meters.source())
                .allocator(meters.allocator())
                .security(security)
                .signatures(sign ? BroadcastSignatures.REQUIRE : BroadcastSignatures.NONE)
                .limit(limit)
                .routing(radix)
                .sends(policy)
                .peerTimeout(peerTimeout)
                // a broadcast has to fit: its bytes are there once, and counted for each child
                .queueInAll(QUEUED_MESSAGES, (long) Math.clamp((double) limit * radix.radix(), QUEUED, MOST_QUEUED))
                // a message is never copied here, however short: copies are what this counts
                .coalesceBelow(0);
        return meters.local() == null
                ? builder
                : builder.localMemory(meters.local().memory());
    }
}
