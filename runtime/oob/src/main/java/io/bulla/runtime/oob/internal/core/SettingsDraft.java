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
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.runtime.oob.topology.Routing;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The settings of a node while a program chooses them: each has its default, and memory and security have none. One
/// thread at a time.
public final class SettingsDraft {

    private static final Duration LONGEST = Duration.ofDays(1);

    public @Nullable MemorySource source;
    public @Nullable Security security;
    public BroadcastSignatures signatures = BroadcastSignatures.NONE;
    public ConnectionLimits connections = ConnectionLimits.DEFAULT;
    public Transport transport = Transport.NIO;
    public Routing routing = new Radix(4);
    public SendPolicy policy = SendPolicy.SHARED;
    public final Map<Integer, MessageHandler> handlers = new LinkedHashMap<>();
    public InetSocketAddress bind = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    public @Nullable ServerSocketChannel listener;
    public @Nullable EventLoopGroup loops;
    public @Nullable NodeCut cut;
    public @Nullable CutName cutName;
    public @Nullable LocalMemory localMemory;
    public @Nullable BulkSettings bulk;
    public BiConsumer<Integer, IOException> lost = (peer, cause) -> {};
    public ByteBufAllocator allocator = ByteBufAllocator.DEFAULT;
    public long limit = 1L << 32;
    public int fragment = 512 << 10;
    public int coalesceBelow = 1 << 10;
    public int peerMessages = 1 << 16;
    public long peerBytes = 256L << 20;
    public int allMessages = 1 << 18;
    public long allBytes = 1L << 30;
    public long inboundHighWaterMark = 64L << 20;
    public long unclaimedLimit = 16L << 20;
    public Duration hello = Duration.ofSeconds(5);
    public Duration heartbeat = Duration.ofSeconds(1);
    public Duration peerTimeout = Duration.ofSeconds(5);
    public Environment environment = Environment.MACHINE;

    /// The settings of a node, whose draft can be changed afterwards.
    ///
    /// @throws NullPointerException if memory, directory or security is missing
    /// @throws IllegalArgumentException if a bound is outside, or two settings do not fit
    public Settings checked(int rank, int size, @Nullable PeerDirectory directory) {
        checkListener();
        checkCut(rank, size);
        checkSignatures();
        bounded("messages to a peer", peerMessages, 1, SendQuota.MOST_MESSAGES);
        bounded("messages to all peers", allMessages, 1, SendQuota.MOST_MESSAGES);
        bounded("bytes to a peer", peerBytes, 1, SendQuota.MOST_BYTES);
        bounded("bytes to all peers", allBytes, 1, SendQuota.MOST_BYTES);
        return new Settings(
                rank,
                size,
                Objects.requireNonNull(source, "a node needs a memory source"),
                Objects.requireNonNull(directory, "a node needs a peer directory"),
                Objects.requireNonNull(security, "a node needs a security, such as Security.plaintext()"),
                signatures,
                connections,
                transport,
                routing,
                policy,
                allocator,
                lost,
                Map.copyOf(handlers),
                limit,
                fragment,
                coalesceBelow,
                peerMessages,
                peerBytes,
                allMessages,
                allBytes,
                inboundHighWaterMark,
                unclaimedLimit,
                hello.toNanos(),
                heartbeat.toNanos(),
                peerTimeout.toNanos(),
                Frame.VERSION,
                Frame.VERSION,
                bulk,
                cut,
                cutName,
                localMemory,
                environment);
    }

    /// @throws IllegalArgumentException if a socket that listens already is not one of the transport
    public void checkListener() {
        if (listener != null && !transport.equals(Transport.NIO)) {
            throw new IllegalArgumentException(
                    "a socket that listens already is for Transport.NIO: transport=" + transport);
        }
    }

    private void checkCut(int rank, int size) {
        if (cut != null && (cut.rank() != rank || cut.size() != size)) {
            throw new IllegalArgumentException("cut of another node: rank=" + cut.rank() + " size=" + cut.size()
                    + " expected=" + rank + " of=" + size);
        }
    }

    private void checkSignatures() {
        if (signatures != BroadcastSignatures.NONE
                && security != null
                && security.originSignatures().isEmpty()) {
            throw new IllegalArgumentException(
                    "security has no key to sign with: security=" + security.name() + " signatures=" + signatures);
        }
    }

    /// @return the given number
    /// @throws IllegalArgumentException if it is outside
    public static long bounded(String what, long given, long least, long most) {
        if (given < least || given > most) {
            throw new IllegalArgumentException(
                    what + " is outside: given=" + given + " least=" + least + " most=" + most);
        }
        return given;
    }

    /// @return the given time
    /// @throws IllegalArgumentException if it is not positive, or more than a day
    public static Duration positive(String what, Duration given) {
        if (!given.isPositive() || given.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(what + " is outside: given=" + given + " most=" + LONGEST);
        }
        return given;
    }
}
