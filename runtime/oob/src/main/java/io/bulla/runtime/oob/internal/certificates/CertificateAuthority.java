// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.certificates;

import io.bulla.runtime.oob.internal.certificates.Certificates.Validity;
import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/// A throw-away authority for the nodes of one job: for trials and tests. Its key lives as long as this object
/// and is not written anywhere, so that no node can be added later.
public final class CertificateAuthority {

    private final String job;
    private final Validity validity;
    private final KeyPair key = Certificates.newKey();
    private final X509Certificate certificate;

    private CertificateAuthority(String job, Validity validity) {
        this.job = job;
        this.validity = validity;
        this.certificate = Certificates.authority(name(), key, validity);
    }

    /// Makes an authority, with a key of its own.
    ///
    /// @param job whose nodes it will vouch for: letters, digits, dots and dashes
    /// @param from when its certificates begin to be valid
    /// @param until when they end
    /// @return an authority that has issued nothing yet
    /// @throws IllegalArgumentException if the time is empty
    public static CertificateAuthority create(String job, Instant from, Instant until) {
        return new CertificateAuthority(job, new Validity(from, until));
    }

    /// The authority that the nodes trust.
    ///
    /// @return the authority's own certificate
    public X509Certificate certificate() {
        return certificate;
    }

    /// The authority that the nodes trust, as a PEM file.
    ///
    /// @return text of some lines
    public String certificatePem() {
        return Pem.of(List.of(certificate));
    }

    /// Makes a node's key and vouches for it.
    ///
    /// @param rank of the node, at least 0
    /// @return a certificate for the name `bulla://JOB/rank/N`, and its key
    /// @throws IllegalArgumentException if there is no such rank
    public Issued issue(int rank) {
        if (rank < 0) {
            throw new IllegalArgumentException("a rank is at least 0: rank=" + rank);
        }
        KeyPair own = Certificates.newKey();
        return new Issued(
                Certificates.nameOf(job, rank),
                Certificates.node(job, rank, own.getPublic(), name(), key, validity),
                own.getPrivate());
    }

    private String name() {
        return job + " authority";
    }

    /// A node's certificate and its key, which is the node's alone.
    public static final class Issued {

        private final String name;
        private final X509Certificate certificate;
        private final PrivateKey key;

        Issued(String name, X509Certificate certificate, PrivateKey key) {
            this.name = name;
            this.certificate = certificate;
            this.key = key;
        }

        /// The certificates that the node shows to others, as a PEM file.
        ///
        /// @return text of some lines
        public String certificatePem() {
            return Pem.of(List.of(certificate));
        }

        /// Writes the secret key (PEM, PKCS #8) to a file that only its owner may read.
        ///
        /// @param file a new one
        /// @throws IOException if it exists already, or cannot be written
        public void writeKey(Path file) throws IOException {
            KeyFile.write(file, keyPem());
        }

        /// The secret key, as a PEM file has it.
        ///
        /// @return text of some lines
        public String keyPem() {
            return Pem.of(key);
        }

        /// The secret key.
        ///
        /// @return one of the curve P-256
        public PrivateKey key() {
            return key;
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
