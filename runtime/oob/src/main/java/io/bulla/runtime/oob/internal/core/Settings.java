// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import io.bulla.buffer.MemorySource;
import io.bulla.runtime.oob.ConnectionLimits;
import io.bulla.runtime.oob.LocalMemory;
import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.Transport;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.bulla.runtime.oob.topology.Routing;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The settings of a node, checked.
///
/// @param bulk beside the connections, or `null`
/// @param cut where the node goes on, or `null`
/// @param cutName which checkpoint it is of, or `null`
/// @param localMemory what nodes of this host lend each other by, or `null`
public record Settings(
        int rank,
        int size,
        MemorySource source,
        PeerDirectory directory,
        Security security,
        BroadcastSignatures signatures,
        ConnectionLimits connections,
        Transport transport,
        Routing routing,
        SendPolicy policy,
        ByteBufAllocator allocator,
        BiConsumer<Integer, IOException> lost,
        Map<Integer, MessageHandler> handlers,
        long limit,
        int fragment,
        int coalesceBelow,
        int peerMessages,
        long peerBytes,
        int allMessages,
        long allBytes,
        long inboundHighWaterMark,
        long unclaimedLimit,
        long helloNanos,
        long heartbeatNanos,
        long peerTimeoutNanos,
        int oldestVersion,
        int newestVersion,
        @Nullable BulkSettings bulk,
        @Nullable NodeCut cut,
        @Nullable CutName cutName,
        @Nullable LocalMemory localMemory,
        Environment environment) {}
