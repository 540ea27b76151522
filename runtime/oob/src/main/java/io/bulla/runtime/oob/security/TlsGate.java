// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Objects;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// Stands behind the TLS handler: says in one line why a handshake failed, at both ends, and whom a channel with
/// certificates belongs to.
final class TlsGate extends ChannelInboundHandlerAdapter {

    /// Who stands at the other end; unset until it was proven.
    static final AttributeKey<PeerIdentity> PEER = AttributeKey.valueOf(TlsGate.class, "peer");

    private static final String ALERT = "Received fatal alert: ";
    // RFC 8446, section 6.1: the other end does not want the connection any more
    private static final String CANCELED = "Alert: user_canceled";

    private final @Nullable MemberTrust trust;
    private final boolean connecting;
    private boolean told;
    private boolean refused;

    /// For TLS in which certificates prove nothing.
    TlsGate() {
        this(null, false);
    }

    /// @param trust by which what the other end has shown is checked after the handshake, resumed or not; `null` if
    ///     certificates prove nothing
    /// @param connecting true if this end connects
    TlsGate(@Nullable MemberTrust trust, boolean connecting) {
        this.trust = trust;
        this.connecting = connecting;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (!handshake.isSuccess()) {
                failed(context, handshake.cause());
            } else if (trust != null) {
                identify(context, trust);
            }
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (refused) {
            // what came in one piece with the end of the handshake
            ReferenceCountUtil.release(message);
        } else {
            context.fireChannelRead(message);
        }
    }

    private void identify(ChannelHandlerContext context, MemberTrust members) {
        try {
            Certificate[] shown = context.pipeline()
                    .get(SslHandler.class)
                    .engine()
                    .getSession()
                    .getPeerCertificates();
            X509Certificate[] chain = Arrays.copyOf(shown, shown.length, X509Certificate[].class);
            members.recheck(chain, connecting);
            context.channel().attr(PEER).set(PeerIdentity.of(chain[0]));
        } catch (SSLException | CertificateException wrong) {
            refused = true;
            tell(context, wrong);
            context.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // Netty's decoders wrap what they throw
        if (cause instanceof SSLException || cause.getCause() instanceof SSLException) {
            failed(
                    context,
                    cause instanceof SSLException ? cause : Objects.requireNonNullElse(cause.getCause(), cause));
        } else {
            context.fireExceptionCaught(cause);
        }
    }

    private void failed(ChannelHandlerContext context, Throwable cause) {
        Throwable reason = cause.getCause();
        if (reason != null && String.valueOf(reason.getMessage()).endsWith(CANCELED)) {
            // as two nodes do that call each other at once
            context.close();
        } else {
            tell(context, cause);
        }
    }

    /// The handshake's event and the exception say the same thing twice.
    private void tell(ChannelHandlerContext context, Throwable cause) {
        if (!told) {
            told = true;
            context.fireExceptionCaught(new IOException(line(cause), cause));
        }
    }

    private static String line(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        int alert = message.indexOf(ALERT);
        if (alert >= 0) {
            return "tls: the peer refused: alert=" + message.substring(alert + ALERT.length());
        }
        if (cause instanceof NotSslRecordException) {
            // its message shows the bytes, which were sent in the clear
            return "tls: the peer does not speak it";
        }
        if (cause instanceof ClosedChannelException) {
            return "tls: connection closed in the handshake";
        }
        // ours, or what the JDK has against it
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof CertificateException) {
                return "tls: the peer's " + each.getMessage();
            }
        }
        return "tls: " + message.replaceAll("\\p{Cntrl}", " ");
    }
}
