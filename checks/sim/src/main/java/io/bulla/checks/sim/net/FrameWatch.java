// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.net;

import io.bulla.checks.sim.world.Sights;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/// Looks at what is written to a connection, to tell which kinds of frames a run has seen.
final class FrameWatch {

    private static final int FLAGS_AT = 61;
    private static final Frame.Kind[] KINDS = Frame.Kind.values();

    private final Sights sights;
    private final Net.FrameListener listener;
    private final ByteBuffer header = ByteBuffer.allocate(Frame.BYTES);
    private long body;

    FrameWatch(Sights sights, Net.FrameListener listener) {
        this.sights = sights;
        this.listener = listener;
    }

    void bytes(ByteBuf bytes) {
        int end = bytes.writerIndex();
        for (int at = bytes.readerIndex(); at < end; ) {
            if (body > 0) {
                int skipped = (int) Math.min(body, end - at);
                body -= skipped;
                at += skipped;
                continue;
            }
            int length = Math.min(header.remaining(), end - at);
            bytes.getBytes(at, header.limit(header.position() + length));
            header.limit(header.capacity());
            at += length;
            if (!header.hasRemaining()) {
                frame();
                header.clear();
            }
        }
    }

    private void frame() {
        int kind = header.get(5);
        boolean local = header.get(FLAGS_AT) != 0
                && (kind == Frame.Kind.DIRECT.ordinal() || kind == Frame.Kind.BROADCAST.ordinal());
        body = local ? Frame.PLACE : Math.max(0, header.getInt(56));
        if (kind >= 0 && kind < KINDS.length && listener.frame(KINDS[kind], header)) {
            see(KINDS[kind], local);
        }
    }

    private void see(Frame.Kind kind, boolean local) {
        int tag = header.getInt(8);
        sights.see(
                switch (kind) {
                    case REFUSE -> "REFUSE " + Refusal.of(tag);
                    case CONFIRM -> tag < 0 ? "CONFIRM again" : body > 0 ? "CONFIRM with failed" : "CONFIRM";
                    case ACK -> (tag & 1) == 0 ? "ACK" : "ACK that waits for credit";
                    case HELLO, RESUME -> kind.name();
                    default -> kind.name() + (local ? " as a place" : "");
                });
    }
}
