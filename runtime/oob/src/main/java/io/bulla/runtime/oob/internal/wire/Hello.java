// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.wire;

import io.bulla.buffer.BufferReader;
import io.bulla.buffer.SealedBuffer;
import io.netty.buffer.ByteBuf;
import java.io.IOException;

/// The first words of a node to another, the body of a HELLO; numbers big-endian.
///
/// ```
///  0  oldest version        2 bytes
///  2  newest version        2
///  4  rank                  4
///  8  number of nodes       4
/// 12  number of this hello  4    grows with each hello of a session, so that a late one is known
/// 16  my session            8    random, never 0
/// 24  your session          8    as I know it; 0: not
/// 32  next expected, small  8    of your messages
/// 40  next expected, bulk   8
/// 48  next expected, control 8
/// 56  my life              8    random, never 0: the same as long as the process lives
/// 64  window               8    bytes that I hold in each lane before I grant more
/// 72  limit                8    longest message that I take
/// 80  features            8    a bit each: what I can beyond the version; 0 if it ends before
/// 88
/// ```
///
/// Behind it may be parts: [BulkOffer], [RestoredFrom]. A later version may append others; what is not known is not
/// read.
///
/// @param oldest version that the node speaks
/// @param newest version that the node speaks
/// @param rank of the node
/// @param nodes as the node counts them
/// @param number of this hello
/// @param session of the node towards this peer
/// @param known session of the peer, or 0
/// @param small sequence expected next in the small lane
/// @param bulk sequence expected next in the bulk lane
/// @param control sequence expected next in the lane of confirmations
/// @param life of the process
/// @param window of either lane, in bytes with headers
/// @param limit of a message, in bytes
/// @param features what the node can beyond the version: [#LOCAL], [#SIGNED_BROADCASTS], [#CHECKPOINTS]
public record Hello(
        int oldest,
        int newest,
        int rank,
        int nodes,
        int number,
        long session,
        long known,
        long small,
        long bulk,
        long control,
        long life,
        long window,
        long limit,
        long features) {

    public static final int BYTES = 88;

    /// The feature that nodes of one host lend each other memory: INVITE, PROOF, and local fragments.
    public static final long LOCAL = 1;

    public static final int MOST = 256;

    /// Takes broadcasts that end with a signature.
    public static final long SIGNED_BROADCASTS = 2;

    /// Says from which checkpoint it goes on, if from any: [RestoredFrom].
    public static final long CHECKPOINTS = 4;

    private static final int LEAST = 80;

    /// The largest window.
    public static final long MOST_WINDOW = 1L << 60;

    public void writeTo(ByteBuf target) {
        target.writeShort(oldest)
                .writeShort(newest)
                .writeInt(rank)
                .writeInt(nodes)
                .writeInt(number)
                .writeLong(session)
                .writeLong(known)
                .writeLong(small)
                .writeLong(bulk)
                .writeLong(control)
                .writeLong(life)
                .writeLong(window)
                .writeLong(limit)
                .writeLong(features);
    }

    public static Hello read(SealedBuffer body) throws IOException {
        if (body.byteSize() < LEAST) {
            throw new IOException("hello is too short: bytes=" + body.byteSize() + " least=" + LEAST);
        }
        BufferReader in = BufferReader.of(body);
        Hello hello = new Hello(
                in.getUnsignedShort(),
                in.getUnsignedShort(),
                in.getInt(),
                in.getInt(),
                in.getInt(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.remaining() < Long.BYTES ? 0 : in.getLong());
        if (hello.session == 0 || hello.small < 0 || hello.bulk < 0 || hello.control < 0 || hello.isOutside()) {
            throw new IOException("not a hello: " + hello);
        }
        return hello;
    }

    private boolean isOutside() {
        return life == 0 || window < 0 || window > MOST_WINDOW || limit < 0;
    }
}
