// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.OriginSignatures;
import io.bulla.runtime.oob.security.Security;
import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;

/// Plain bytes, and a key of each node to sign with: a digest with the node's secret, so that who has it can check,
/// and a member that does not keep to the protocol has its own alone. Which nodes sign is drawn.
///
/// @param rank of the node
/// @param bytes of a signature
public record SimSecurity(int rank, int bytes) implements Security, OriginSignatures {

    /// Behind a signature is its length.
    private static final int LENGTH = Integer.BYTES;

    private static final BroadcastSignatures[][] MIXES = {
        {BroadcastSignatures.NONE, BroadcastSignatures.NONE},
        {BroadcastSignatures.SIGN, BroadcastSignatures.SIGN},
        {BroadcastSignatures.REQUIRE, BroadcastSignatures.REQUIRE},
        {BroadcastSignatures.SIGN, BroadcastSignatures.NONE},
        {BroadcastSignatures.REQUIRE, BroadcastSignatures.SIGN},
        {BroadcastSignatures.REQUIRE, BroadcastSignatures.NONE}
    };

    /// Of one of which all sign.
    public static final long SIGN = 1;

    public static final long REQUIRE = 2;
    public static final long SIGN_AND_NONE = 3;
    public static final long REQUIRE_AND_SIGN = 4;
    /// Some refuse what others broadcast.
    public static final long REQUIRE_AND_NONE = 5;

    static boolean isOn(Schedule schedule) {
        return mix(schedule) != 0;
    }

    /// Whether all is signed.
    static boolean isAllSigned(Schedule schedule) {
        return mix(schedule) == SIGN || mix(schedule) == REQUIRE || mix(schedule) == REQUIRE_AND_SIGN;
    }

    private static long mix(Schedule schedule) {
        return schedule.config().getOrDefault("signatures", 0L);
    }

    public static BroadcastSignatures of(Schedule schedule, int rank) {
        return MIXES[(int) mix(schedule)][rank % 2];
    }

    /// Whether a node refuses what another broadcasts, because that does not sign.
    static boolean isRefused(Schedule schedule, int origin, int by) {
        return of(schedule, origin) == BroadcastSignatures.NONE
                && of(schedule, by) == BroadcastSignatures.REQUIRE
                && origin != by;
    }

    /// Of a node.
    public static SimSecurity security(Schedule schedule, int rank) {
        return new SimSecurity(
                rank, schedule.config().getOrDefault("signature", 40L).intValue());
    }

    /// What a broadcast is longer on its way.
    static int overhead(Schedule schedule, int origin) {
        return of(schedule, origin) == BroadcastSignatures.NONE
                ? 0
                : schedule.config().getOrDefault("signature", 40L).intValue() + LENGTH;
    }

    /// The most of any origin.
    static int overhead(Schedule schedule) {
        return Math.max(overhead(schedule, 0), overhead(schedule, 1));
    }

    @Override
    public byte[] sign(byte[] statement) {
        return by(rank, statement);
    }

    private byte[] by(int origin, byte[] statement) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(~origin).array());
            return Arrays.copyOf(digest.digest(statement), bytes);
        } catch (GeneralSecurityException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    @Override
    public void check(int origin, byte[] statement, byte[] signature) throws IOException {
        if (!Arrays.equals(by(origin, statement), signature)) {
            throw new IOException("signature is not of it: origin=" + origin + " bytes=" + signature.length);
        }
    }

    @Override
    public Optional<OriginSignatures> originSignatures() {
        return Optional.of(this);
    }

    @Override
    public void secure(Channel channel, boolean connecting, int expectedPeer) {
        // bytes go as they are
    }

    @Override
    public int peerOf(Channel channel) {
        return UNKNOWN;
    }

    @Override
    public String name() {
        return "simulated";
    }
}
