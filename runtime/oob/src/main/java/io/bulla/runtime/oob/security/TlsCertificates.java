// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.bulla.runtime.oob.Security;
import io.netty.channel.Channel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;

/// Mutual TLS 1.3 with certificates: each node shows one that names it, `bulla://JOB/rank/N`, issued by the job's
/// authority.
///
/// - *Who*: both ends check path, validity and job within the handshake; who connects checks the rank as well,
///   who accepts holds it against the hello.
/// - *Nothing before*: what a node writes waits until the handshake is over.
/// - *No resumption*: every connection is a handshake of its own, so that a certificate that has expired is
///   found out.
///
/// `./bulla cert` makes files for a trial. What it withstands: docs/security.md.
public final class TlsCertificates implements Security {

    private static final String VERSION = "TLSv1.3";
    private static final long HANDSHAKE_SECONDS = 10;

    private final PeerIdentity self;
    private final KeyManagerFactory keys;
    private final MemberTrust trust;
    private final SslContext accepting;

    private TlsCertificates(PeerIdentity self, KeyManagerFactory keys, MemberTrust trust) throws IOException {
        this.self = self;
        this.keys = keys;
        this.trust = trust;
        this.accepting = SslContextBuilder.forServer(keys)
                .sslProvider(SslProvider.JDK)
                .protocols(VERSION)
                .trustManager(trust)
                .clientAuth(ClientAuth.REQUIRE)
                .build();
    }

    /// Reads a node's files (PEM), and checks them as its peers will.
    ///
    /// @param authority the certificates that the job trusts, one or more
    /// @param chain the node's own certificate first, then those that lead to an authority, if there are any
    /// @param key the node's secret key (PKCS #8, not encrypted), readable by the file's owner alone
    /// @return a security for that node
    /// @throws IOException that names the file, if one cannot be read, is open to others, or does not fit:
    ///     another authority's, expired, another key's, without a node's name
    public static TlsCertificates ofFiles(Path authority, Path chain, Path key) throws IOException {
        List<X509Certificate> own = Pem.certificates(chain);
        PrivateKey secret = Pem.key(key);
        X509Certificate[] path = own.toArray(X509Certificate[]::new);
        try {
            PeerIdentity self = PeerIdentity.of(path[0]);
            MemberTrust trust = MemberTrust.of(Pem.certificates(authority), self.job());
            trust.checkServerTrusted(path, "UNKNOWN");
            trust.checkClientTrusted(path, "UNKNOWN");
            if (!belong(path[0], secret)) {
                throw new IOException("key is not the certificate's: file=" + key);
            }
            return new TlsCertificates(self, keys(secret, path), trust);
        } catch (CertificateException wrong) {
            throw new IOException("own " + wrong.getMessage() + ": file=" + chain, wrong);
        }
    }

    /// Who this node is, as its certificate says.
    ///
    /// @return job and rank
    public PeerIdentity self() {
        return self;
    }

    @Override
    public void checkRank(int rank) throws IOException {
        self.checkRank(rank);
    }

    @Override
    public void secure(Channel channel, boolean connecting, int expectedPeer) throws IOException {
        SslHandler tls = connecting
                ? SslContextBuilder.forClient()
                        .sslProvider(SslProvider.JDK)
                        .protocols(VERSION)
                        .keyManager(keys)
                        .trustManager(trust.calling(expectedPeer))
                        // the name is the rank, which the trust manager checks, and not a host's
                        .endpointIdentificationAlgorithm(null)
                        .build()
                        .newHandler(channel.alloc())
                : accepting.newHandler(channel.alloc());
        prepare(tls);
        channel.pipeline().addLast(tls, new TlsGate(true));
    }

    /// What both kinds of TLS have in common.
    static void prepare(SslHandler tls) {
        tls.setHandshakeTimeout(HANDSHAKE_SECONDS, TimeUnit.SECONDS);
        // encrypts each message out of its own memory; filling records would copy the ends of messages
        tls.setWrapDataSize(0);
    }

    @Override
    public int peerOf(Channel channel) throws IOException {
        return proven(channel).rank();
    }

    static PeerIdentity proven(Channel channel) throws IOException {
        PeerIdentity peer = channel.attr(TlsGate.PEER).get();
        if (peer == null) {
            throw new IOException("nobody has proven who is there: remote=" + channel.remoteAddress());
        }
        return peer;
    }

    @Override
    public String name() {
        return "tls";
    }

    @Override
    public String toString() {
        return name() + " " + self;
    }

    private static KeyManagerFactory keys(PrivateKey secret, X509Certificate... chain) {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            store.setKeyEntry("self", secret, new char[0], chain);
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, new char[0]);
            return factory;
        } catch (GeneralSecurityException | IOException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    private static boolean belong(X509Certificate certificate, PrivateKey key) {
        String signature = switch (key.getAlgorithm().toUpperCase(Locale.ROOT)) {
            case "EC" -> "SHA256withECDSA";
            case "RSA" -> "SHA256withRSA";
            default -> key.getAlgorithm();
        };
        byte[] something =
                Objects.toString(certificate.getSerialNumber()).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        try {
            Signature signer = Signature.getInstance(signature);
            signer.initSign(key);
            signer.update(something);
            byte[] signed = signer.sign();
            signer.initVerify(certificate.getPublicKey());
            signer.update(something);
            return signer.verify(signed);
        } catch (GeneralSecurityException anotherKind) {
            return false;
        }
    }
}
