// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.hostile;

import io.bulla.checks.sim.node.Intruders;
import io.bulla.runtime.oob.SimulatedNode;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.nio.ByteBuffer;
import java.util.Arrays;

/// What a relay that does not keep to the protocol makes of a broadcast.
final class Forgery {

    /// More than a fragment on this member's lines.
    private static final int MORE = 2 * HostileLine.PIECE;

    private Forgery() {}

    /// @param earlier of the same origin, or `null`
    /// @return `null` if there is nothing to be done
    static HostileMember.Passed of(
            HostileMember member, HostileMember.Way way, HostileMember.Passed broadcast, HostileMember.Passed earlier) {
        byte[] bytes = broadcast.bytes().clone();
        int program = program(broadcast);
        return switch (way) {
            case TAMPERS -> program == 0 ? null : with(broadcast, flipped(bytes, member.random.nextInt(program)));
            case TAMPERS_AT_THE_END -> program == 0 ? null : with(broadcast, flipped(bytes, program - 1));
            case STRIPS ->
                of(broadcast, broadcast.tag(), broadcast.mark() & ~Frame.SIGNED, Arrays.copyOf(bytes, program));
            case RETAGS -> of(broadcast, Intruders.FORGED, broadcast.mark(), bytes);
            case REPLAYS -> earlier == null ? null : of(broadcast, earlier.tag(), earlier.mark(), earlier.bytes());
            case CUTS_SIGNATURE -> bytes.length < Integer.BYTES ? null : with(broadcast, endsWithNoLength(bytes));
            case ANOTHER_LENGTH -> with(broadcast, longer(bytes));
            case BEGINS_ANOTHER_LENGTH ->
                with(
                        broadcast,
                        broadcast.number() % 2 == 0 && bytes.length > MORE
                                ? Arrays.copyOf(bytes, MORE)
                                : longer(bytes));
            default -> throw new IllegalStateException("relays nothing: " + way);
        };
    }

    /// Bytes without the signature.
    private static int program(HostileMember.Passed broadcast) {
        byte[] bytes = broadcast.bytes();
        if ((broadcast.mark() & Frame.SIGNED) == 0) {
            return bytes.length;
        }
        return bytes.length - Integer.BYTES - ByteBuffer.wrap(bytes).getInt(bytes.length - Integer.BYTES);
    }

    private static byte[] flipped(byte[] bytes, int at) {
        bytes[at] ^= 1;
        return bytes;
    }

    private static byte[] endsWithNoLength(byte[] bytes) {
        ByteBuffer.wrap(bytes).putInt(bytes.length - Integer.BYTES, bytes.length % 2 == 0 ? -1 : 1 << 20);
        return bytes;
    }

    /// The signature is at the end again.
    private static byte[] longer(byte[] bytes) {
        byte[] longer = new byte[bytes.length + MORE];
        System.arraycopy(bytes, 0, longer, MORE, bytes.length);
        return longer;
    }

    private static HostileMember.Passed with(HostileMember.Passed broadcast, byte[] bytes) {
        return of(broadcast, broadcast.tag(), broadcast.mark(), bytes);
    }

    private static HostileMember.Passed of(HostileMember.Passed broadcast, int tag, int mark, byte[] bytes) {
        return new HostileMember.Passed(broadcast.origin(), broadcast.session(), broadcast.number(), tag, mark, bytes);
    }

    /// One that its origin has not sent, under the number that is its next, signed by the member.
    static HostileMember.Passed next(HostileMember member, HostileMember.Passed last) {
        return signed(member, last.origin(), last.session(), last.number() + 1);
    }

    /// Of a tag that no program of the job uses.
    static HostileMember.Passed signed(HostileMember member, int origin, long session, long number) {
        byte[] program = new byte[member.random.nextInt(3000)];
        Arrays.fill(program, (byte) 1);
        byte[] signature =
                member.security.sign(SimulatedNode.statement(origin, session, number, Intruders.FORGED, program));
        byte[] bytes = ByteBuffer.allocate(program.length + signature.length + Integer.BYTES)
                .put(program)
                .put(signature)
                .putInt(signature.length)
                .array();
        return new HostileMember.Passed(origin, session, number, Intruders.FORGED, Frame.SIGNED, bytes);
    }
}
