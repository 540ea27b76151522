// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.PendingWriteQueue;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.security.MessageDigest;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// Each end proves, once TLS stands, that it knows the job's secret; the connecting end goes first.
///
/// ```
/// kind 1 byte   rank 4   called 4   HMAC 32          kind 1: of who connects, 2: of who accepts, 0: refused
///
/// HMAC over     the connection's exporter 32, rank 4, called 4           keys: ProofKeys, other ones for each
/// ```
///
/// The exporter is TLS's own name for this connection (RFC 9266, `tls-exporter`): both ends have it, it is
/// another one in every connection, and neither end chooses it alone.
///
/// - *Replay*: an old proof names an old connection.
/// - *Reflection*: who connects and who accepts use other keys, so a proof sent back is none.
/// - *A man in the middle* has two connections, with two exporters: what he hears in one proves nothing in the
///   other.
/// - *Guessing*: the accepting end proves nothing to an end that has not; the connecting end shows its proof to any
///   that accepts, who can try secrets on it at leisure. So the secret has to be a random one.
///
/// Until then nothing else is read, and writes wait. All on the channel's event loop.
final class SecretProof extends ChannelDuplexHandler {

    private static final int BYTES = 1 + 4 + 4 + ProofKeys.PROOF_BYTES;
    private static final byte REFUSED = 0;
    private static final byte CONNECTS = 1;
    private static final byte ACCEPTS = 2;
    private static final String EXPORTER = "EXPORTER-Channel-Binding";
    private static final int EXPORTER_BYTES = 32;
    private static final long DEADLINE_SECONDS = 10;

    private final ProofKeys keys;
    private final PeerIdentity self;
    private final boolean connects;
    private final int called;
    private final ByteBuffer received = ByteBuffer.allocate(BYTES);
    // set as the handler is added
    @SuppressWarnings("NullAway.Init")
    private PendingWriteQueue waiting;

    private boolean flushWaits;
    private boolean proven;
    private boolean over;
    private byte @Nullable [] exporter;

    @SuppressWarnings("NullAway.Init")
    private Future<?> deadline;

    /// @param connects true if this end connects
    /// @param called rank that is connected to, or [Security#UNKNOWN]
    SecretProof(ProofKeys keys, PeerIdentity self, boolean connects, int called) {
        this.keys = keys;
        this.self = self;
        this.connects = connects;
        this.called = called;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        waiting = new PendingWriteQueue(context);
        deadline = context.executor()
                .schedule(
                        () -> fail(context, "no proof of the job's secret in time: seconds=" + DEADLINE_SECONDS),
                        DEADLINE_SECONDS,
                        TimeUnit.SECONDS);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
            try {
                exporter = exporter(context);
                if (connects) {
                    prove(context, CONNECTS, called);
                }
            } catch (SSLException noExporter) {
                fail(context, "tls gives no exporter: " + noExporter.getMessage());
            }
        }
        context.fireUserEventTriggered(event);
    }

    private static byte[] exporter(ChannelHandlerContext context) throws SSLException {
        ExtendedSSLSession session = (ExtendedSSLSession)
                context.pipeline().get(SslHandler.class).engine().getSession();
        return session.exportKeyingMaterialData(EXPORTER, new byte[0], EXPORTER_BYTES);
    }

    private void prove(ChannelHandlerContext context, byte role, int whom) {
        context.writeAndFlush(context.alloc()
                .buffer(BYTES)
                .writeByte(role)
                .writeInt(self.rank())
                .writeInt(whom)
                .writeBytes(keys.proof(role, self.rank(), words(self.rank(), whom))));
    }

    private byte[] words(int rank, int whom) {
        return ByteBuffer.allocate(EXPORTER_BYTES + 8)
                .put(Objects.requireNonNull(exporter, "exporter"))
                .putInt(rank)
                .putInt(whom)
                .array();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (proven || !(message instanceof ByteBuf bytes)) {
            context.fireChannelRead(message);
            return;
        }
        if (over) {
            bytes.release();
            return;
        }
        int length = Math.min(received.remaining(), bytes.readableBytes());
        bytes.readBytes(received.limit(received.position() + length));
        received.limit(BYTES);
        if (!received.hasRemaining()) {
            judge(context);
        }
        if (proven && bytes.isReadable()) {
            context.fireChannelRead(bytes);
        } else {
            bytes.release();
        }
    }

    private void judge(ChannelHandlerContext context) {
        byte role = received.get(0);
        int rank = received.getInt(1);
        int whom = received.getInt(5);
        if (role == REFUSED && connects) {
            fail(context, "the peer refused this node's proof of the job's secret");
            return;
        }
        byte[] shown = new byte[ProofKeys.PROOF_BYTES];
        received.get(9, shown);
        boolean right = role == (connects ? ACCEPTS : CONNECTS)
                && (!connects || whom == self.rank())
                && MessageDigest.isEqual(shown, keys.proof(role, rank, words(rank, whom)));
        if (!right) {
            refuse(context, "wrong proof of the job's secret: the peer has another secret, or is of another job");
        } else if (rank < 0 || connects && called != Security.UNKNOWN && rank != called) {
            refuse(context, "another node than called: rank=" + rank + " called=" + called);
        } else if (!connects && whom != Security.UNKNOWN && whom != self.rank()) {
            refuse(context, "another node is called: rank=" + self.rank() + " called=" + whom);
        } else {
            accept(context, new PeerIdentity(self.job(), rank));
        }
    }

    private void accept(ChannelHandlerContext context, PeerIdentity peer) {
        proven = true;
        deadline.cancel(false);
        context.channel().attr(TlsGate.PEER).set(peer);
        if (!connects) {
            prove(context, ACCEPTS, peer.rank());
        }
        waiting.removeAndWriteAll();
        if (flushWaits) {
            context.flush();
        }
    }

    /// The other end is told, without a reason: it has its own line.
    private void refuse(ChannelHandlerContext context, String why) {
        if (!connects) {
            context.writeAndFlush(context.alloc().buffer(BYTES).writeZero(BYTES));
        }
        fail(context, why);
    }

    private void fail(ChannelHandlerContext context, String why) {
        if (proven || over) {
            return;
        }
        over = true;
        deadline.cancel(false);
        IOException line = new IOException("secret: " + why);
        waiting.removeAndFailAll(line);
        context.fireExceptionCaught(line);
        context.close();
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (proven) {
            context.write(message, promise);
        } else {
            waiting.add(message, promise);
        }
    }

    @Override
    public void flush(ChannelHandlerContext context) {
        flushWaits |= !proven;
        if (proven) {
            context.flush();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.fireExceptionCaught(cause);
        if (!proven) {
            // that was the reason; the end of the connection needs no other one
            over = true;
            context.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (!over && exporter != null) {
            fail(context, "connection closed before the peer had proven to know the job's secret");
        }
        handlerRemoved(context);
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        deadline.cancel(false);
        waiting.removeAndFailAll(new ClosedChannelException());
    }
}
