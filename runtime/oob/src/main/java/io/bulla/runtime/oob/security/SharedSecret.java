// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.bulla.runtime.oob.internal.certificates.Certificates;
import io.bulla.runtime.oob.internal.certificates.Certificates.Validity;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.BitSet;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/// TLS 1.3 for a closed job whose nodes have one secret in common, and no certificates.
///
/// TLS runs with a throw-away, unchecked certificate; it keeps the words private, but says nothing
/// about who speaks. So each end then proves that it knows the secret, for this very connection
/// ([SecretProof]). What a node writes waits until the other end has proven itself, what it receives before is
/// the proof and nothing else.
///
/// An end that knows the secret can say any rank: it keeps outsiders out, and does not tell the job's nodes apart.
/// Where that matters, use [TlsCertificates].
public final class SharedSecret implements Security {

    /// The shortest secret, in bytes. Take random ones: a secret that can be guessed can be tried out by
    /// every end that a node connects to.
    public static final int LEAST = 16;

    // sixteen random hexadecimal digits have fewer in one of thirty million files
    private static final int LEAST_DISTINCT = 5;
    private static final String VERSION = "TLSv1.3";
    // of the unchecked certificate
    private static final Duration LONG = Duration.ofDays(3650);

    private final PeerIdentity self;
    private final ProofKeys keys;
    private final SslContext accepting;
    private final SslContext connecting;

    private SharedSecret(PeerIdentity self, ProofKeys keys) throws IOException {
        this.self = self;
        this.keys = keys;
        KeyPair key = Certificates.newKey();
        Instant now = Instant.now();
        X509Certificate throwAway =
                Certificates.authority("bulla", key, new Validity(now.minus(Duration.ofDays(1)), now.plus(LONG)));
        accepting = SslContextBuilder.forServer(key.getPrivate(), throwAway)
                .sslProvider(SslProvider.JDK)
                .protocols(VERSION)
                .build();
        connecting = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .protocols(VERSION)
                .trustManager(new Anybody())
                .endpointIdentificationAlgorithm(null)
                .build();
    }

    /// Reads the secret, which is the file's bytes without a line's end behind them.
    ///
    /// @param secret at least [#LEAST] bytes, readable by the file's owner alone, the same on every node
    /// @param self this node; nodes of other jobs with the same secret are refused
    /// @return a security for that node
    /// @throws IOException that names the file, if it cannot be read, is open to others or another
    ///     user's, is too short, or cannot be random
    public static SharedSecret ofFile(Path secret, PeerIdentity self) throws IOException {
        byte[] bytes = SecretFile.secret(secret);
        try {
            int length = bytes.length;
            while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r')) {
                length--;
            }
            if (length < LEAST) {
                throw new IOException("secret is too short: file=" + secret + " bytes=" + length + " least=" + LEAST);
            }
            long distinct = distinct(bytes, length);
            if (distinct < LEAST_DISTINCT) {
                throw new IOException("secret is not random: file=" + secret + " distinct-bytes=" + distinct + " least="
                        + LEAST_DISTINCT);
            }
            byte[] trimmed = Arrays.copyOf(bytes, length);
            try {
                return new SharedSecret(self, ProofKeys.of(trimmed, self.job()));
            } finally {
                Arrays.fill(trimmed, (byte) 0);
            }
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
    }

    private static long distinct(byte[] bytes, int length) {
        BitSet seen = new BitSet();
        for (int i = 0; i < length; i++) {
            seen.set(bytes[i] & 0xff);
        }
        return seen.cardinality();
    }

    /// A secret that the nodes got by other means than a file.
    ///
    /// @param secret at least [#LEAST] bytes, the same on every node; what is needed of it is copied
    /// @param self this node; nodes of other jobs with the same secret are refused
    /// @return a security for that node
    /// @throws IllegalArgumentException if the secret is too short
    /// @throws IOException if this machine has no TLS 1.3
    public static SharedSecret of(byte[] secret, PeerIdentity self) throws IOException {
        if (secret.length < LEAST) {
            throw new IllegalArgumentException("secret is too short: bytes=" + secret.length + " least=" + LEAST);
        }
        return new SharedSecret(self, ProofKeys.of(secret, self.job()));
    }

    @Override
    public void checkRank(int rank) throws IOException {
        self.checkRank(rank);
    }

    @Override
    public void secure(Channel channel, boolean connects, int expectedPeer) {
        SslHandler tls = (connects ? connecting : accepting).newHandler(channel.alloc());
        TlsCertificates.prepare(tls);
        if (!connects) {
            channel.pipeline().addLast(new TlsOnly());
        }
        channel.pipeline().addLast(tls, new TlsGate(), new SecretProof(keys, self, connects, expectedPeer));
    }

    @Override
    public int peerOf(Channel channel) throws IOException {
        return TlsCertificates.proven(channel).rank();
    }

    @Override
    public String name() {
        return "tls-secret";
    }

    @Override
    public String toString() {
        return name() + " " + self;
    }

    /// Who stands at the other end is found out afterwards, in a way that a man in the middle cannot pass on.
    private static final class Anybody extends X509ExtendedTrustManager {

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
