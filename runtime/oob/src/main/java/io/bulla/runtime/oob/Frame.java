package io.bulla.runtime.oob;

import io.bulla.pack.WireFormat;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/// The header in front of every message, all numbers big-endian.
///
/// ```
///  0               1               2               3
///  0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
/// +-------------------------------+---------------+---------------+  0
/// |           magic  'B' 'u' 'l' 'a'                              |
/// +---------------+---------------+-------------------------------+  4
/// |  version = 2  |     kind      |  format code  |d|  flags = 0  |     d (0x80): described
/// +---------------+---------------+-------------------------------+  8
/// |                            tag                                |
/// +---------------------------------------------------------------+ 12
/// |                           origin                              |
/// +---------------------------------------------------------------+ 16
/// |                    length of the body in bytes                |
/// |                                                               |
/// +---------------------------------------------------------------+ 24
/// ```
///
/// Format code and flags are those of an [io.bulla.pack.Envelope], see [WireFormat#mark()]; both 0 if the body is
/// not packed items. A whole envelope does not stand here: its checksum would have every sender, relay and receiver
/// read bytes that they otherwise only hand on, and TCP has one.
///
/// @param kind what the frame is
/// @param tag chosen by the sender's program
/// @param origin rank of the node that first sent it; a relay leaves it
/// @param format how the body is packed; nothing if the sender did not say
/// @param length of the body in bytes
public record Frame(Kind kind, int tag, int origin, Optional<WireFormat> format, long length) {

    /// Size of the header in bytes.
    public static final int BYTES = 24;

    private static final int MAGIC = 0x42756c61;
    private static final byte VERSION = 2;

    /// What a frame is; the ordinal is the code on the wire.
    public enum Kind {
        /// The first frame of a connection: says in `origin` who connects. No body.
        HELLO,
        /// A message for the node that it is sent to.
        DIRECT,
        /// A message for the node and for everybody below it in the tree of `origin`.
        XCAST
    }

    void writeTo(ByteBuf target) {
        target.writeInt(MAGIC)
                .writeByte(VERSION)
                .writeByte(kind.ordinal())
                .writeShort(format.map(WireFormat::mark).orElse(0))
                .writeInt(tag)
                .writeInt(origin)
                .writeLong(length);
    }

    static Frame read(ByteBuffer header, long limit) throws IOException {
        int magic = header.getInt(0);
        byte version = header.get(4);
        int kind = header.get(5) & 0xff;
        int mark = header.getShort(6) & 0xffff;
        long length = header.getLong(16);
        if (magic != MAGIC || version != VERSION || kind >= Kind.values().length) {
            throw new IOException(String.format(
                    "not a frame of version %d: magic=%08x version=%d kind=%d", VERSION, magic, version, kind));
        }
        Optional<WireFormat> format = WireFormat.ofMark(mark);
        if (format.isEmpty() && mark != 0) {
            throw new IOException(
                    String.format("unknown format of a message: code=%d flags=%02x", mark >>> Byte.SIZE, mark & 0xff));
        }
        if (length < 0 || length > limit) {
            throw new IOException("message over the limit: length=" + length + " limit=" + limit);
        }
        return new Frame(Kind.values()[kind], header.getInt(8), header.getInt(12), format, length);
    }
}
