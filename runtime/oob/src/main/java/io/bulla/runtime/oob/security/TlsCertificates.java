// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

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
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.PBEParameterSpec;
import javax.net.ssl.KeyManagerFactory;

/// Mutual TLS 1.3 with certificates: each node shows one that names it, `bulla://JOB/rank/N`, issued by the job's
/// authority.
///
/// - *Who*: both ends check path, validity and job within the handshake; who connects checks the rank as well,
///   who accepts holds it against the hello.
/// - *Nothing before*: what a node writes waits until the handshake is over.
/// - *Every connection*: what the other end shows is checked on each connection, one that resumes a session
///   included, so that a certificate that has expired is found out.
/// - *Rotation*: [#rotate] puts new files in the place of the old ones while the node runs.
/// - *Signatures*: a node's key signs its broadcasts, if [io.bulla.runtime.oob.OobNodeBuilder#signatures] says so.
///
/// `./bulla cert` makes files for a trial. What it withstands: docs/security.md.
public final class TlsCertificates implements Security {

    /// One round of deriving its key: what is never written to a file needs no 10,000 against a dictionary.
    private static final KeyStore.PasswordProtection KEPT_ON_HEAP = new KeyStore.PasswordProtection(
            new char[0],
            "PBEWithHmacSHA256AndAES_256",
            new PBEParameterSpec(new byte[8], 1, new IvParameterSpec(new byte[16])));

    private static final String VERSION = "TLSv1.3";
    private static final long HANDSHAKE_SECONDS = 10;

    private final PeerIdentity self;
    // volatile: replaced as one; a connection that is being made meanwhile takes either
    private volatile Material material;
    private final OriginSignatures signatures;

    private TlsCertificates(PeerIdentity self, Material material, InstantSource clock) {
        this.self = self;
        this.material = material;
        this.signatures = new CertificateSignatures(() -> this.material.signing, clock);
    }

    /// The TLS contexts of connections, of one set of files.
    private record Material(
            KeyManagerFactory keys, MemberTrust trust, SslContext accepting, CertificateSignatures.Material signing) {

        static Material of(KeyManagerFactory keys, MemberTrust trust, CertificateSignatures.Material signing)
                throws IOException {
            return new Material(
                    keys,
                    trust,
                    SslContextBuilder.forServer(keys)
                            .sslProvider(SslProvider.JDK)
                            .protocols(VERSION)
                            .trustManager(trust)
                            .clientAuth(ClientAuth.REQUIRE)
                            .build(),
                    signing);
        }
    }

    /// Reads a node's files (PEM), and checks them as its peers will.
    ///
    /// @param authority the certificates that the job trusts, one or more
    /// @param chain the node's own certificate first, then those that lead to an authority, if there are any
    /// @param key the node's secret key (PKCS #8, not encrypted), readable by the file's owner alone
    /// @return a security for that node
    /// @throws IOException that names the file, if one cannot be read, is open to others, or does not fit:
    ///     another authority's, expired, another key's, without a node's name or the purposes of a TLS server and
    ///     client; or an authority that is none
    public static TlsCertificates ofFiles(Path authority, Path chain, Path key) throws IOException {
        return ofFiles(authority, chain, key, InstantSource.system());
    }

    /// @param clock for the peers' validity, beside the system's
    static TlsCertificates ofFiles(Path authority, Path chain, Path key, InstantSource clock) throws IOException {
        PeerIdentity[] self = new PeerIdentity[1];
        Material material = read(authority, chain, key, clock, self);
        return new TlsCertificates(self[0], material, clock);
    }

    /// Replaces the node's files: connections from now on are made with the new ones. Those that stand keep what
    /// they were made with. To change the authority, give both for a while: all nodes first trust the old and the
    /// new one, then show certificates of the new one, then trust the new one alone.
    ///
    /// @param authority as in [#ofFiles]
    /// @param chain of the same job and rank
    /// @param key as in [#ofFiles]
    /// @throws IOException as [#ofFiles], and if the certificate names another node; all stays as it was
    public void rotate(Path authority, Path chain, Path key) throws IOException {
        PeerIdentity[] named = new PeerIdentity[1];
        Material next = read(authority, chain, key, InstantSource.system(), named);
        if (!named[0].equals(self)) {
            throw new IOException(
                    "own certificate is another node's: names=" + named[0] + " self=" + self + ": file=" + chain);
        }
        material = next;
    }

    /// @param named told whom the certificate names
    private static Material read(Path authority, Path chain, Path key, InstantSource clock, PeerIdentity[] named)
            throws IOException {
        List<X509Certificate> own = PemFile.certificates(chain);
        PrivateKey secret = PemFile.key(key);
        X509Certificate[] path = own.toArray(X509Certificate[]::new);
        try {
            PeerIdentity self = PeerIdentity.of(path[0]);
            MemberTrust trust = MemberTrust.of(authorities(authority), self.job(), clock);
            trust.checkServerTrusted(path, "UNKNOWN");
            trust.checkClientTrusted(path, "UNKNOWN");
            SigningKey signing = new SigningKey(secret);
            if (!belong(path[0], signing)) {
                throw new IOException("key is not the certificate's: file=" + key);
            }
            named[0] = self;
            return Material.of(
                    keys(secret, path),
                    trust,
                    new CertificateSignatures.Material(signing, ShownChain.encode(path), trust));
        } catch (CertificateException wrong) {
            throw new IOException("own " + wrong.getMessage() + ": file=" + chain, wrong);
        }
    }

    /// A node's certificate among them would be trusted as it is, without a look at its validity or its purpose.
    private static List<X509Certificate> authorities(Path file) throws IOException {
        List<X509Certificate> found = PemFile.certificates(file);
        for (X509Certificate each : found) {
            if (each.getBasicConstraints() < 0) {
                throw new IOException(
                        "not an authority's certificate: subject=" + each.getSubjectX500Principal() + " file=" + file);
            }
        }
        return found;
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
        Material with = material;
        MemberTrust trust = connecting ? with.trust.calling(expectedPeer) : with.trust;
        SslHandler tls = connecting
                ? SslContextBuilder.forClient()
                        .sslProvider(SslProvider.JDK)
                        .protocols(VERSION)
                        .keyManager(with.keys)
                        .trustManager(trust)
                        // the name is the rank, which the trust manager checks, and not a host's
                        .endpointIdentificationAlgorithm(null)
                        .build()
                        .newHandler(channel.alloc())
                : with.accepting.newHandler(channel.alloc());
        prepare(tls);
        if (!connecting) {
            channel.pipeline().addLast(new TlsOnly());
        }
        channel.pipeline().addLast(tls, new TlsGate(trust, connecting));
    }

    /// Settings of both kinds of TLS.
    static void prepare(SslHandler tls) {
        tls.setHandshakeTimeout(HANDSHAKE_SECONDS, TimeUnit.SECONDS);
        // encrypts each message out of its own memory; filling records would copy the ends of messages
        tls.setWrapDataSize(0);
    }

    @Override
    public int peerOf(Channel channel) throws IOException {
        return proven(channel).rank();
    }

    @Override
    public Optional<OriginSignatures> originSignatures() {
        return Optional.of(signatures);
    }

    static PeerIdentity proven(Channel channel) throws IOException {
        PeerIdentity peer = channel.attr(TlsGate.PEER).get();
        if (peer == null) {
            throw new IOException("the peer has not proven who it is: remote=" + channel.remoteAddress());
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
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setEntry("self", new KeyStore.PrivateKeyEntry(secret, chain), KEPT_ON_HEAP);
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, new char[0]);
            return factory;
        } catch (GeneralSecurityException | IOException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    private static boolean belong(X509Certificate certificate, SigningKey key) {
        byte[] something =
                Objects.toString(certificate.getSerialNumber()).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        try {
            return SigningKey.isSigned(certificate.getPublicKey(), something, key.sign(something));
        } catch (GeneralSecurityException anotherKind) {
            return false;
        }
    }
}
