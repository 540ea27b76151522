// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.security;

import io.bulla.runtime.oob.internal.certificates.CertificateAuthority;
import io.bulla.runtime.oob.internal.certificates.CertificateAuthority.Issued;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.security.TlsCertificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/// A folder of certificates for the nodes of one job: `ca.pem`, `rank-N.pem`, `rank-N.key`.
///
/// @param folder that only its owner may look into
public record TrialCertificates(Path folder) implements AutoCloseable {

    // clocks of a trial's machines may differ
    public static final Duration EARLIER = Duration.ofHours(1);

    /// Makes them in a folder that goes with this object.
    ///
    /// @param nodes besides the root
    public static TrialCertificates temporary(int nodes) throws IOException {
        Instant now = Instant.now();
        TrialCertificates files = new TrialCertificates(Files.createTempDirectory("bulla-certs"));
        try {
            files.write(CertificateAuthority.create("bulla", now.minus(EARLIER), now.plus(Duration.ofDays(1))), nodes);
            return files;
        } catch (Throwable failure) {
            files.close();
            throw failure;
        }
    }

    /// Writes the files of ranks 0 to `nodes`.
    public void write(CertificateAuthority authority, int nodes) throws IOException {
        Files.writeString(folder.resolve("ca.pem"), authority.certificatePem());
        for (int rank = 0; rank <= nodes; rank++) {
            Issued node = authority.issue(rank);
            Files.writeString(certificate(rank), node.certificatePem());
            node.writeKey(key(rank));
        }
    }

    /// Reads those of one rank.
    public Security of(int rank) throws IOException {
        return TlsCertificates.ofFiles(folder.resolve("ca.pem"), certificate(rank), key(rank));
    }

    /// Deletes them all.
    @Override
    public void close() throws IOException {
        if (Files.exists(folder)) {
            try (var files = Files.newDirectoryStream(folder)) {
                for (Path file : files) {
                    Files.delete(file);
                }
            }
            Files.delete(folder);
        }
    }

    private Path certificate(int rank) {
        return folder.resolve("rank-" + rank + ".pem");
    }

    private Path key(int rank) {
        return folder.resolve("rank-" + rank + ".key");
    }
}
