// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.bulla.runtime.oob.internal.certificates.CertificateAuthority;
import io.bulla.runtime.oob.internal.certificates.Certificates;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/// TLS of the JDK's, with sockets that block: a peer that speaks TLS, trusts all, and knows no secret.
final class Attackers {

    private Attackers() {}

    static SSLServerSocket listen() throws Exception {
        KeyPair key = Certificates.newKey();
        X509Certificate own = Certificates.authority(
                "attacker",
                key,
                new Certificates.Validity(
                        Instant.now().minusSeconds(60), Instant.now().plusSeconds(600)));
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys(key.getPrivate(), own), null, null);
        return (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 5, InetAddress.getLoopbackAddress());
    }

    static InetSocketAddress address(SSLServerSocket listener) {
        return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
    }

    static SSLSocket connect(InetSocketAddress where) throws Exception {
        SSLSocket socket =
                (SSLSocket) context(null).getSocketFactory().createSocket(where.getAddress(), where.getPort());
        socket.setSoTimeout(10_000);
        return socket;
    }

    /// Trusts everybody.
    ///
    /// @param own what it shows, or `null`
    static SSLContext context(CertificateAuthority.Issued own) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(
                own == null ? null : keys(own.key(), Credulous.certificate(own)),
                InsecureTrustManagerFactory.INSTANCE.getTrustManagers(),
                null);
        return context;
    }

    private static KeyManager[] keys(PrivateKey key, X509Certificate own) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("own", key, new char[0], new X509Certificate[] {own});
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, new char[0]);
        return keys.getKeyManagers();
    }

    /// Passes on what one says to the other, until it has said all.
    static Thread pass(Socket from, Socket to) {
        return Thread.ofVirtual().start(() -> {
            try {
                from.getInputStream().transferTo(to.getOutputStream());
            } catch (IOException over) {
                // the other direction has ended it
            }
        });
    }
}
