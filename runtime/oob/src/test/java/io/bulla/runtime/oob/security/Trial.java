// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.bulla.runtime.oob.internal.certificates.CertificateAuthority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/// Files of a trial job.
record Trial(Path folder, CertificateAuthority authority) {

    static Trial in(Path folder, String job) {
        return new Trial(folder, authority(job, Duration.ofDays(1)));
    }

    static CertificateAuthority authority(String job, Duration left) {
        Instant now = Instant.now();
        return CertificateAuthority.create(job, now.minus(Duration.ofDays(2)), now.plus(left));
    }

    TlsCertificates node(int rank) throws IOException {
        return node(authority.issue(rank));
    }

    TlsCertificates node(CertificateAuthority.Issued issued) throws IOException {
        return node(issued, InstantSource.system());
    }

    TlsCertificates node(CertificateAuthority.Issued issued, InstantSource clock) throws IOException {
        return TlsCertificates.ofFiles(ca(), chain(issued), secret(folder, issued.keyPem()), clock);
    }

    /// Authority, certificates and key.
    List<Path> files(CertificateAuthority.Issued issued) throws IOException {
        return List.of(ca(), chain(issued), secret(folder, issued.keyPem()));
    }

    /// Gives a node fresh files of this job.
    void rotate(TlsCertificates node, int rank) throws IOException {
        CertificateAuthority.Issued issued = authority.issue(rank);
        node.rotate(ca(), chain(issued), secret(folder, issued.keyPem()));
    }

    private Path ca() throws IOException {
        return Files.writeString(Files.createTempFile(folder, "ca", ".pem"), authority.certificatePem());
    }

    private Path chain(CertificateAuthority.Issued issued) throws IOException {
        return Files.writeString(Files.createTempFile(folder, "node", ".pem"), issued.certificatePem());
    }

    static Path secret(Path folder, String content) throws IOException {
        Path file = Files.createTempFile(
                folder,
                "secret",
                "",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, content);
    }
}
