// SPDX-License-Identifier: Apache-2.0
package com.example.feed;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.interop.netty.SealedByteBuf;
import io.bulla.interop.websocket.PreparedMessage;
import io.bulla.interop.websocket.PreparedMessageHandler;
import io.bulla.interop.websocket.PreparedMessages;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.IllegalReferenceCountException;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What a program may do wrong: each is refused, and costs no client but the one that it is done to. */
final class Attacks {

    private static final int PATIENCE_SECONDS = 60;
    private static final Logger NETTY = Logger.getLogger("io.netty.util.ReferenceCountUtil");

    /** Anything that may throw. */
    private interface Wrong {
        void run() throws Exception;
    }

    private Attacks() {}

    /** @param victim the channel of a client that is subscribed; it cannot be written to afterwards */
    static void run(MemorySource memory, PreparedMessages messages, Fanout fanout, Channel victim) throws Exception {
        PreparedMessage message = messages.text("never sent");
        SealedBuffer forms = message.forms();
        message.close();
        message.close();
        forms.close();
        PreparedMessageHandler handler = PreparedMessageHandler.of(victim);
        refused("a closed message", ReleasedBufferException.class, () -> handler.write(message));
        refused("closed forms", ReleasedBufferException.class, () -> fanout.publish(forms));

        // a ping: FIN and opcode 9, two bytes
        SealedBuffer ping = sealed(memory, 0x89, 2, 'h', 'i');
        ByteBuf once = SealedByteBuf.move(ping);
        refused("a handle given away twice", ReleasedBufferException.class, () -> SealedByteBuf.move(ping));
        await(victim.writeAndFlush(once));
        // Netty finds it when it writes to the socket, ends that direction of the connection, and says so twice
        NETTY.setLevel(Level.OFF);
        refused("a buffer written twice", IllegalReferenceCountException.class, () -> await(
                victim.writeAndFlush(once)));
    }

    private static SealedBuffer sealed(MemorySource memory, int... bytes) {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            for (int each : bytes) {
                builder.putByte((byte) each);
            }
            return builder.seal();
        }
    }

    private static void await(ChannelFuture done) throws Exception {
        if (!done.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not done: channel=" + done.channel());
        }
        if (done.cause() instanceof Exception failure) {
            throw failure;
        }
    }

    private static void refused(String what, Class<? extends Exception> how, Wrong step) {
        try {
            step.run();
        } catch (Exception refusal) {
            for (Throwable each = refusal; each != null; each = each.getCause()) {
                if (how.isInstance(each)) {
                    return;
                }
            }
            throw new IllegalStateException("refused otherwise: what=" + what, refusal);
        }
        throw new IllegalStateException("not refused: what=" + what);
    }
}
