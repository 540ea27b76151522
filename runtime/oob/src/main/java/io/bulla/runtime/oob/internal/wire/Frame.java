// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.wire;

import io.bulla.pack.WireFormat;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/// The header in front of everything on a connection, all numbers big-endian.
///
/// ```
///  0               1               2               3
///  0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
/// +-------------------------------+---------------+---------------+  0
/// |           magic  'B' 'u' 'l' 'a'                              |
/// +---------------+---------------+-------------------------------+  4
/// |  version = 4  |     kind      |  format code  |d|s| flags = 0 |     d (0x80): described, s (0x40): signed
/// +---------------+---------------+-------------------------------+  8
/// |                            tag                                |
/// +---------------------------------------------------------------+ 12
/// |                           origin                              |
/// +---------------------------------------------------------------+ 16
/// |                    sequence within the lane                   |
/// |                                                               |
/// +---------------------------------------------------------------+ 24
/// |                    offset of the fragment                     |
/// |                                                               |
/// +---------------------------------------------------------------+ 32
/// |                    length of the whole message                |
/// |                                                               |
/// +---------------------------------------------------------------+ 40
/// |                    session of the origin                      |     broadcasts
/// |                                                               |
/// +---------------------------------------------------------------+ 48
/// |                    number of the broadcast                    |     broadcasts
/// |                                                               |
/// +---------------------------------------------------------------+ 56
/// |                    length of what follows                     |
/// +---------------+-----------------------------------------------+ 60
/// |     lane      |           0 |L|               0               |     L (0x01): local
/// +---------------+-----------------------------------------------+ 64
/// ```
///
/// Format code and flags are those of an [io.bulla.pack.Envelope], see [WireFormat#mark()]; both 0 if the body
/// is not packed items. A whole envelope does not stand here: its checksum would have every sender, relay and
/// receiver read bytes that they otherwise only hand on, and TCP has one. A broadcast that is signed ends with its
/// origin's signature, and the flag says so.
///
/// @param kind what the frame is
/// @param tag chosen by the sender's program; of a REFUSE, the reason; of an ACK, its flags; of a NOTICE, its topic;
///     of a CLEAR, 0 no room, 1 granted, 2 no line
/// @param origin rank of the node that first sent it; a relay leaves it
/// @param format how the body is packed; nothing if the sender did not say
/// @param signed whether the broadcast ends with its origin's signature
/// @param sequence of the message within its lane; of an ACK, what the sender of the ACK expects next in the
///     small lane
/// @param offset of this fragment in the message, in bytes; of an ACK, what is expected next in the bulk lane
/// @param total length of the whole message in bytes, also of a SKIP; of an ACK, how far the small lane has credit
/// @param session of the origin, if it is a broadcast; of an ACK, how far the bulk lane has credit; of a
///     CLEAR, the key; of a REFUSE, the sender's life, as its hello would say, or 0
/// @param number of the broadcast, among its origin's; of an ACK, what is expected next in the control
///     lane; of a CLEAR, where to write
/// @param length of what follows this header, in bytes; of a local fragment, its own
/// @param lane 0 the small one, 1 the bulk one, 2 that of confirmations
/// @param local what follows is where the fragment is in memory that both nodes see, [#PLACE] bytes
public record Frame(
        Kind kind,
        int tag,
        int origin,
        Optional<WireFormat> format,
        boolean signed,
        long sequence,
        long offset,
        long total,
        long session,
        long number,
        int length,
        int lane,
        boolean local) {

    /// Size of the header in bytes.
    public static final int BYTES = 64;

    /// Size of what follows the header of a local fragment, in bytes.
    public static final int PLACE = 32;

    /// The most bytes of a local fragment.
    public static final int MAX_LOCAL = 1 << 30;

    /// The most bytes that follow one header.
    public static final int MAX_BODY = 16 << 20;

    /// The fewest bytes of a fragment that is not its message's last.
    public static final int MIN_FRAGMENT = 1 << 10;

    /// Topics of notices are below this.
    public static final int TOPICS = 8;

    /// The most bytes that follow the header of a notice.
    public static final int MAX_NOTICE = Hello.MOST;

    /// The most bytes that follow the header of a batch.
    public static final int MAX_BATCH = 64 << 10;

    public static final int VERSION = 4;

    /// In the mark of a broadcast that ends with a signature, beside what [WireFormat#mark()] says.
    public static final int SIGNED = 0x40;

    private static final int MAGIC = 0x42756c61;
    private static final int FLAGS_AT = 61;
    private static final int LOCAL = 1;
    private static final int CONTROL_LANE = 2;
    private static final Kind[] KINDS = Kind.values();

    /// The kind of a frame; the ordinal is the code on the wire.
    public enum Kind {
        /// The first frame of either side. Body: a [Hello].
        HELLO(false),
        /// Of a message for the node that it is sent to.
        DIRECT(true),
        /// Of a message for the node and for everybody below it in the tree of `origin`.
        BROADCAST(true),
        /// Confirms a broadcast: the node and everybody below it have it, but for those who failed.
        CONFIRM(true),
        /// Takes a message's place in its lane: it was cancelled after its first byte. No body.
        SKIP(true),
        /// What is expected next in both lanes; everything before has arrived. Also a sign of life. No body.
        ACK(false),
        /// The connection is not wanted. Body: why, in UTF-8.
        REFUSE(false),
        /// The node closes. No body.
        BYE(false),
        /// Short messages, each with its header, in one frame.
        BATCH(false),
        /// There was no memory for what came: whatever is sequenced is dropped until a RESUME. No body.
        RETRY(false),
        /// What follows begins with the first message that was not acknowledged. No body.
        RESUME(false),
        /// The message of this lane and sequence is not taken; a SKIP is expected. Body: why, in UTF-8.
        REJECT(false),
        /// A layer's word to its like at the peer; the tag is its topic. Body: at most 256 bytes.
        NOTICE(false),
        /// What the peer needs to borrow memory of this node. Body: up to the memory.
        INVITE(false),
        /// The peer sees this node's memory. Body: what only that memory says; empty: the peer does not borrow.
        PROOF(false),
        /// Memory is wanted for a message that is to go beside the connection. No body.
        REQUEST(false),
        /// The answer to a REQUEST: a key, or a refusal. No body.
        CLEAR(false),
        /// A message in its lane whose bytes have gone beside the connection. No body.
        FINISHED(true);

        private final boolean sequenced;

        Kind(boolean sequenced) {
            this.sequenced = sequenced;
        }

        public boolean isSequenced() {
            return sequenced;
        }
    }

    /// Of bytes that follow.
    public Frame(
            Kind kind,
            int tag,
            int origin,
            Optional<WireFormat> format,
            boolean signed,
            long sequence,
            long offset,
            long total,
            long session,
            long number,
            int length,
            int lane) {
        this(kind, tag, origin, format, signed, sequence, offset, total, session, number, length, lane, false);
    }

    /// How many bytes follow the header.
    public int bodyBytes() {
        return local ? PLACE : length;
    }

    /// Without a message: HELLO, REFUSE, BYE, ACK.
    public static Frame control(Kind kind, int tag, int origin, int length) {
        return new Frame(kind, tag, origin, Optional.empty(), false, 0, 0, 0, 0, 0, length, 0);
    }

    /// That a connection is not wanted.
    ///
    /// @param life number of the process that says so
    public static Frame refusal(Refusal reason, int origin, long life, int length) {
        return new Frame(Kind.REFUSE, reason.ordinal(), origin, Optional.empty(), false, 0, 0, 0, life, 0, length, 0);
    }

    /// @param next what is expected next, by lane
    /// @param credit how far the small and the bulk lane have credit
    /// @param flags 1 if this side waits for credit; the depths of which it holds nothing, by lane, from 1 << 8 on
    public static Frame acknowledgement(int origin, long[] next, long[] credit, int flags) {
        return new Frame(
                Kind.ACK,
                flags,
                origin,
                Optional.empty(),
                false,
                next[0],
                next[1],
                credit[0],
                credit[1],
                next[2],
                0,
                0);
    }

    /// That a message is not taken.
    public static Frame rejection(int origin, int lane, long sequence, int length) {
        return new Frame(Kind.REJECT, 0, origin, Optional.empty(), false, sequence, 0, 0, 0, 0, length, lane);
    }

    public void writeTo(ByteBuf target) {
        int mark = format.map(WireFormat::mark).orElse(0) | (signed ? SIGNED : 0);
        int at = target.writerIndex();
        write(target, kind, mark, tag, origin, sequence, offset, total, session, number, length, lane);
        if (local) {
            target.setByte(at + FLAGS_AT, LOCAL);
        }
    }

    /// As [#writeTo], without a frame.
    public static void write(
            ByteBuf target,
            Kind kind,
            int mark,
            int tag,
            int origin,
            long sequence,
            long offset,
            long total,
            long session,
            long number,
            int length,
            int lane) {
        int at = target.ensureWritable(BYTES).writerIndex();
        ByteBuffer bytes = target.internalNioBuffer(at, BYTES);
        write(bytes, bytes.position(), kind, mark, tag, origin, sequence, offset, total, session, number, length, lane);
        target.writerIndex(at + BYTES);
    }

    /// The same, at an index of bytes in big-endian order: two words at a time, for a check of bounds each.
    public static void write(
            ByteBuffer target,
            int at,
            Kind kind,
            int mark,
            int tag,
            int origin,
            long sequence,
            long offset,
            long total,
            long session,
            long number,
            int length,
            int lane) {
        target.putLong(at, words(MAGIC, VERSION << 24 | kind.ordinal() << 16 | mark))
                .putLong(at + 8, words(tag, origin))
                .putLong(at + 16, sequence)
                .putLong(at + 24, offset)
                .putLong(at + 32, total)
                .putLong(at + 40, session)
                .putLong(at + 48, number)
                .putLong(at + 56, words(length, lane << 24));
    }

    /// Says in a header at `at` that what follows is a place.
    public static void markLocal(ByteBuffer header, int at) {
        header.put(at + FLAGS_AT, (byte) LOCAL);
    }

    private static long words(int first, int second) {
        return (long) first << Integer.SIZE | second & 0xffff_ffffL;
    }

    public static Frame read(ByteBuffer header, long limit) throws IOException {
        return read(header, 0, limit);
    }

    /// Whether it may come from a peer, before memory is taken for its body.
    ///
    /// @throws IOException if it names another origin, or announces a body that its kind has not
    public void checkFrom(int peer, int nodes) throws IOException {
        if (kind == Kind.BROADCAST || kind == Kind.CONFIRM || isOfBroadcast()) {
            if (origin < 0 || origin >= nodes) {
                throw new IOException("origin is not a node: origin=" + origin + " nodes=" + nodes);
            }
        } else if (origin != peer) {
            throw new IOException("origin is not the peer: origin=" + origin + " peer=" + peer);
        }
        boolean bodyless = switch (kind) {
            case SKIP, ACK, BYE, RETRY, RESUME, REQUEST, CLEAR, FINISHED -> true;
            default -> false;
        };
        if (bodyless && length != 0) {
            throw new IOException("frame should have no body: kind=" + kind + " length=" + length);
        }
    }

    /// Whether it speaks of a broadcast that goes beside the connection.
    public boolean isOfBroadcast() {
        return isOfBroadcast(kind, session);
    }

    private static boolean isOfBroadcast(Kind kind, long session) {
        return session != 0 && (kind == Kind.REQUEST || kind == Kind.FINISHED);
    }

    /// Of a FINISHED: the broadcast in one piece, as if it had come in this frame.
    public Frame asBroadcast() {
        return new Frame(
                Kind.BROADCAST,
                tag,
                origin,
                format,
                signed,
                sequence,
                0,
                total,
                session,
                number,
                Math.toIntExact(total),
                lane);
    }

    /// The header at `at`.
    public static Frame read(ByteBuffer header, int at, long limit) throws IOException {
        int magic = header.getInt(at);
        int version = header.get(at + 4) & 0xff;
        int kind = header.get(at + 5) & 0xff;
        if (magic != MAGIC || version != VERSION || kind >= KINDS.length) {
            throw new IOException(String.format(
                    "not a frame of version %d: magic=%08x version=%d kind=%d", VERSION, magic, version, kind));
        }
        int mark = header.getShort(at + 6) & 0xffff;
        boolean signed = (mark & SIGNED) != 0
                && (KINDS[kind] == Kind.BROADCAST || isOfBroadcast(KINDS[kind], header.getLong(at + 40)));
        Frame frame = new Frame(
                KINDS[kind],
                header.getInt(at + 8),
                header.getInt(at + 12),
                format(signed ? mark & ~SIGNED : mark),
                signed,
                header.getLong(at + 16),
                header.getLong(at + 24),
                header.getLong(at + 32),
                header.getLong(at + 40),
                header.getLong(at + 48),
                header.getInt(at + 56),
                header.get(at + 60) & 0xff,
                header.get(at + FLAGS_AT) == LOCAL);
        int zero = frame.local ? 0xffff : 0xffffff;
        if ((header.getInt(at + 60) & zero) != 0) {
            throw new IOException(String.format("reserved bytes are not zero: bytes=%06x", header.getInt(at + 60)));
        }
        frame.check(limit);
        return frame;
    }

    private static Optional<WireFormat> format(int mark) throws IOException {
        if (mark == 0) {
            return Optional.empty();
        }
        Optional<WireFormat> format = WireFormat.ofMark(mark);
        if (format.isEmpty()) {
            throw new IOException(
                    String.format("unknown format of a message: code=%d flags=%02x", mark >>> Byte.SIZE, mark & 0xff));
        }
        return format;
    }

    private void check(long limit) throws IOException {
        int most = local ? MAX_LOCAL : MAX_BODY;
        if (length < 0 || length > most) {
            throw new IOException("frame over the limit: length=" + length + " limit=" + most);
        }
        if (local && kind != Kind.DIRECT && kind != Kind.BROADCAST) {
            throw new IOException("frame cannot be local: kind=" + kind);
        }
        if ((kind == Kind.INVITE || kind == Kind.PROOF) && length > Hello.MOST) {
            throw new IOException("words over the limit: kind=" + kind + " length=" + length + " limit=" + Hello.MOST);
        }
        if (kind == Kind.REJECT && length > Hello.MOST) {
            throw new IOException("reason over the limit: length=" + length + " limit=" + Hello.MOST);
        }
        if (kind == Kind.NOTICE && (length > MAX_NOTICE || tag < 0 || tag >= TOPICS)) {
            throw new IOException(
                    "not a notice: length=" + length + " limit=" + MAX_NOTICE + " topic=" + tag + " topics=" + TOPICS);
        }
        if (kind == Kind.BATCH && length > MAX_BATCH) {
            throw new IOException("batch over the limit: length=" + length + " limit=" + MAX_BATCH);
        }
        if (!kind.isSequenced()) {
            return;
        }
        // confirmations are no messages: who knows the number of nodes bounds them
        if (total < 0 || total > limit && lane != CONTROL_LANE) {
            throw new IOException("message over the limit: length=" + total + " limit=" + limit);
        }
        boolean last = offset == total - length;
        if (offset < 0
                || offset > total - length
                || sequence < 0
                || lane > CONTROL_LANE
                || kind != Kind.SKIP && (lane == CONTROL_LANE) != (kind == Kind.CONFIRM)
                || !last && length < MIN_FRAGMENT) {
            throw new IOException("not a fragment: sequence=" + sequence + " offset=" + offset + " length=" + length
                    + " total=" + total + " lane=" + lane);
        }
    }
}
