// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.hostile;

import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;

/// The broadcasts that a hostile member gets as a relay, put together from their fragments: one at a time in each
/// lane.
final class HeardBroadcasts {

    private static final int LANES = 2;

    private final HostileMember member;
    private final ByteArrayOutputStream[] parts = new ByteArrayOutputStream[LANES];

    HeardBroadcasts(HostileMember member) {
        this.member = member;
    }

    void heard(ByteBuf frame) {
        int lane = frame.getByte(60);
        long offset = frame.getLong(24);
        int length = frame.getInt(56);
        if (offset == 0) {
            parts[lane] = new ByteArrayOutputStream();
        }
        ByteArrayOutputStream part = parts[lane];
        if (part == null || part.size() != offset) {
            parts[lane] = null;
            return;
        }
        byte[] bytes = new byte[length];
        frame.getBytes(Frame.BYTES, bytes);
        part.writeBytes(bytes);
        if (part.size() == frame.getLong(32)) {
            parts[lane] = null;
            member.passes(new HostileMember.Passed(
                    frame.getInt(12),
                    frame.getLong(40),
                    frame.getLong(48),
                    frame.getInt(8),
                    frame.getShort(6) & 0xffff,
                    part.toByteArray()));
        }
    }
}
