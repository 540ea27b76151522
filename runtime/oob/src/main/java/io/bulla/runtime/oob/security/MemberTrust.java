// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/// Trusts the nodes of one job: those with a certificate of the job's authority, valid now and made for TLS, that
/// names a rank of the job; and, where one rank is called, that rank alone. It decides within the handshake, so the
/// other end is told by an alert, and no byte of the application's is read before. A resumed session has no such
/// handshake: [#recheck] is for what such a session shows.
final class MemberTrust extends X509ExtendedTrustManager {

    private final X509ExtendedTrustManager path;
    private final String job;
    private final int expected;
    private final InstantSource clock;

    private MemberTrust(X509ExtendedTrustManager path, String job, int expected, InstantSource clock) {
        this.path = path;
        this.job = job;
        this.expected = expected;
        this.clock = clock;
    }

    static MemberTrust of(List<X509Certificate> authorities, String job) {
        return of(authorities, job, InstantSource.system());
    }

    /// @param clock for validity, asked beside the system's
    static MemberTrust of(List<X509Certificate> authorities, String job, InstantSource clock) {
        try {
            KeyStore anchors = KeyStore.getInstance(KeyStore.getDefaultType());
            anchors.load(null, null);
            for (int i = 0; i < authorities.size(); i++) {
                anchors.setCertificateEntry("authority-" + i, authorities.get(i));
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(anchors);
            for (TrustManager manager : factory.getTrustManagers()) {
                if (manager instanceof X509ExtendedTrustManager extended) {
                    return new MemberTrust(extended, job, Security.UNKNOWN, clock);
                }
            }
            throw new IllegalStateException("no trust manager for X.509");
        } catch (GeneralSecurityException | java.io.IOException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    /// The same, for calling one rank.
    MemberTrust calling(int rank) {
        return new MemberTrust(path, job, rank, clock);
    }

    /// Checks what a session shows once more, as a fresh handshake would: a session may be resumed for a day, and a
    /// certificate may have expired since.
    ///
    /// @param connecting true if this end connects
    void recheck(X509Certificate[] chain, boolean connecting) throws CertificateException {
        String type = chain[0].getPublicKey().getAlgorithm();
        if (connecting) {
            checkServerTrusted(chain, "UNKNOWN");
        } else {
            checkClientTrusted(chain, type);
        }
    }

    private interface Check {
        void run() throws CertificateException;
    }

    private void check(X509Certificate[] chain, Check genuine) throws CertificateException {
        try {
            genuine.run();
            for (X509Certificate each : chain) {
                each.checkValidity(Date.from(clock.instant()));
            }
            if (chain[0].getExtendedKeyUsage() == null) {
                throw new CertificateException("no purpose, wanted serverAuth and clientAuth");
            }
        } catch (CertificateException wrong) {
            // the same cause, from which TLS takes the alert
            throw new CertificateException(
                    "certificate is refused: names=" + claimed(chain) + " reason=" + reason(wrong), wrong.getCause());
        }
        PeerIdentity who = PeerIdentity.of(chain[0]);
        if (!who.job().equals(job)) {
            throw new CertificateException("certificate is of another job: names=" + who + " job=" + job);
        }
        if (expected != Security.UNKNOWN && who.rank() != expected) {
            throw new CertificateException("certificate is another node's: names=" + who + " called=" + expected);
        }
    }

    private static String claimed(X509Certificate[] chain) {
        try {
            return PeerIdentity.of(chain[0]).toString();
        } catch (CertificateException none) {
            return "no node";
        }
    }

    private static String reason(Throwable wrong) {
        Throwable deepest = wrong;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        return String.valueOf(deepest.getMessage());
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        check(chain, () -> path.checkClientTrusted(chain, type, engine));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        check(chain, () -> path.checkServerTrusted(chain, type, engine));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        check(chain, () -> path.checkClientTrusted(chain, type, socket));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        check(chain, () -> path.checkServerTrusted(chain, type, socket));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
        check(chain, () -> path.checkClientTrusted(chain, type));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        check(chain, () -> path.checkServerTrusted(chain, type));
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return path.getAcceptedIssuers();
    }
}
