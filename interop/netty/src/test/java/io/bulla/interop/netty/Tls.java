// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.handler.ssl.util.SelfSignedCertificate;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import javax.net.ssl.SSLContext;

/// TLS 1.3 that trusts everybody: what the bytes go through, not who sent them.
final class Tls {

    private static final SslContext SERVER = server();

    private Tls() {}

    @SuppressWarnings("deprecation") // good enough for a test
    private static SslContext server() {
        try {
            SelfSignedCertificate certificate = new SelfSignedCertificate();
            return SslContextBuilder.forServer(certificate.key(), certificate.cert())
                    .sslProvider(SslProvider.JDK)
                    .protocols("TLSv1.3")
                    .build();
        } catch (Exception failure) {
            throw new ExceptionInInitializerError(failure);
        }
    }

    static SslHandler serverSide(ByteBufAllocator allocator) {
        return SERVER.newHandler(allocator);
    }

    static SslHandler clientSide(ByteBufAllocator allocator) throws IOException {
        return SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null)
                .protocols("TLSv1.3")
                .build()
                .newHandler(allocator);
    }

    /// A blocking client of the JDK's.
    static Socket connect(InetSocketAddress address) throws Exception {
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        return context.getSocketFactory().createSocket(address.getAddress(), address.getPort());
    }
}
