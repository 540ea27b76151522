// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.nio.ByteBuffer;
import java.util.Optional;

/// The header of a record in a rank's file. All numbers are big-endian. A body is followed by zeros up to a multiple
/// of 8, so a record costs at most 63 bytes beside its body.
///
/// ```
///   0  magic "BuCk"          4  kind       5  lane      6  mark of the format, 0: not said
///   8  bytes of the body    16  rank      20  tag
///  24  number               32  order     40  length
///  48  CRC32C of the body   52  CRC32C of the 52 bytes above
/// ```
///
/// @param kind what the record is
/// @param lane of a message to a peer, from 0
/// @param mark of a message's format, or 0
/// @param body bytes behind the header
/// @param rank of the peer or of the origin; in `HEAD`, of the node
/// @param tag of the message; in `HEAD`, number of nodes
/// @param number in its lane, or -1; in `HEAD`, the epoch; in `END`, of records before it
/// @param order in which it was queued; in `HEAD`, the version; in `END`, number of messages
/// @param length of the message, also of one without bytes; in `STATE`, bytes of the name; in `HEAD`, the attempt
/// @param checksum of the body
record RecordHeader(
        Kind kind,
        int lane,
        int mark,
        long body,
        int rank,
        int tag,
        long number,
        long order,
        long length,
        int checksum) {

    static final int BYTES = 56;
    static final int VERSION = 1;

    private static final int MAGIC = 0x4275436b;
    private static final int CHECKED = 52;
    private static final int ALIGNMENT = 8;

    /// In the order of the file: sessions each with its messages.
    enum Kind {
        HEAD,
        STATE,
        SESSION,
        OUTGOING,
        /// A number without a message.
        SKIPPED,
        ARRIVED,
        END,
        /// Before the `END`: of the node's own, not begun.
        BROADCAST
    }

    ByteBuffer toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES)
                .putInt(MAGIC)
                .put((byte) kind.ordinal())
                .put((byte) lane)
                .putShort((short) mark)
                .putLong(body)
                .putInt(rank)
                .putInt(tag)
                .putLong(number)
                .putLong(order)
                .putLong(length)
                .putInt(checksum);
        return bytes.putInt(Digests.crc(bytes.duplicate().flip())).flip();
    }

    /// @param bytes a header's
    /// @return nothing if they are damaged
    static Optional<RecordHeader> of(ByteBuffer bytes) {
        int kind = bytes.get(4);
        if (bytes.getInt(0) != MAGIC
                || bytes.getInt(CHECKED) != Digests.crc(bytes.slice(0, CHECKED))
                || kind < 0
                || kind >= Kind.values().length) {
            return Optional.empty();
        }
        return Optional.of(new RecordHeader(
                Kind.values()[kind],
                bytes.get(5),
                Short.toUnsignedInt(bytes.getShort(6)),
                bytes.getLong(8),
                bytes.getInt(16),
                bytes.getInt(20),
                bytes.getLong(24),
                bytes.getLong(32),
                bytes.getLong(40),
                bytes.getInt(48)));
    }

    static int padding(long body) {
        return (int) (-body & ALIGNMENT - 1);
    }
}
