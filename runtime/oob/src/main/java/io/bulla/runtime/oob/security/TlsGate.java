// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.AttributeKey;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLException;

/// Stands behind the TLS handler: says in one line why a handshake failed, at both ends, and whom a channel with
/// certificates belongs to.
final class TlsGate extends ChannelInboundHandlerAdapter {

    /// Who stands at the other end; nobody is known until it was proven.
    static final AttributeKey<PeerIdentity> PEER = AttributeKey.valueOf(TlsGate.class, "peer");

    private static final String ALERT = "Received fatal alert: ";
    // RFC 8446, section 6.1: the other end does not want the connection any more
    private static final String CANCELED = "Alert: user_canceled";

    private final boolean certificates;
    private boolean told;

    /// @param certificates true if the other end has shown one that was found genuine
    TlsGate(boolean certificates) {
        this.certificates = certificates;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (!handshake.isSuccess()) {
                failed(context, handshake.cause());
            } else if (certificates) {
                identify(context);
            }
        }
        context.fireUserEventTriggered(event);
    }

    private void identify(ChannelHandlerContext context) {
        try {
            X509Certificate shown = (X509Certificate) context.pipeline()
                    .get(SslHandler.class)
                    .engine()
                    .getSession()
                    .getPeerCertificates()[0];
            context.channel().attr(PEER).set(PeerIdentity.of(shown));
        } catch (SSLException | CertificateException checkedInTheHandshake) {
            tell(context, checkedInTheHandshake);
            context.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof SSLException || cause.getCause() instanceof SSLException) {
            // Netty's decoders wrap what they throw
            failed(context, cause instanceof SSLException ? cause : cause.getCause());
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
            // its message shows the bytes, which somebody sent in the clear
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
