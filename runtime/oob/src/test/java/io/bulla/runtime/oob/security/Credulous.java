// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.bulla.runtime.oob.internal.certificates.CertificateAuthority;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.TrustManager;

/// Connects with any certificate, or with none, and believes everybody: what an attacker would run.
final class Credulous implements Security {

    private final CertificateAuthority.Issued own;
    private final TrustManager trust;

    Credulous(CertificateAuthority.Issued own) {
        this(own, InsecureTrustManagerFactory.INSTANCE.getTrustManagers()[0]);
    }

    Credulous(CertificateAuthority.Issued own, TrustManager trust) {
        this.own = own;
        this.trust = trust;
    }

    @Override
    public void secure(Channel channel, boolean connecting, int expectedPeer) throws IOException {
        SslContextBuilder context =
                SslContextBuilder.forClient().trustManager(trust).endpointIdentificationAlgorithm(null);
        if (own != null) {
            context.keyManager(own.key(), certificate(own));
        }
        channel.pipeline().addLast(context.build().newHandler(channel.alloc()), new TlsGate());
    }

    static X509Certificate certificate(CertificateAuthority.Issued own) throws IOException {
        try {
            return (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(
                            new ByteArrayInputStream(own.certificatePem().getBytes(StandardCharsets.US_ASCII)));
        } catch (CertificateException wrong) {
            throw new IOException(wrong);
        }
    }

    @Override
    public int peerOf(Channel channel) {
        return UNKNOWN;
    }

    @Override
    public String name() {
        return "test";
    }
}
