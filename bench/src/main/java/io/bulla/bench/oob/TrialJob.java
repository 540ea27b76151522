// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.runtime.oob.internal.certificates.CertificateAuthority;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.security.TlsCertificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// Certificates for the nodes of a job, trusted only as long as this, in a folder of their own.
record TrialJob(Path folder) implements AutoCloseable {

    private static final Path AUTHORITY = Path.of("ca.pem");

    static TrialJob of(int nodes) throws IOException {
        Path folder = Files.createTempDirectory("bulla-trial");
        Instant now = Instant.now();
        CertificateAuthority authority =
                CertificateAuthority.create("trial", now.minus(Duration.ofHours(1)), now.plus(Duration.ofDays(1)));
        Files.writeString(folder.resolve(AUTHORITY), authority.certificatePem());
        for (int rank = 0; rank < nodes; rank++) {
            CertificateAuthority.Issued issued = authority.issue(rank);
            Files.writeString(folder.resolve(rank + ".pem"), issued.certificatePem());
            issued.writeKey(folder.resolve(rank + ".key"));
        }
        return new TrialJob(folder);
    }

    Path authority() {
        return folder.resolve(AUTHORITY);
    }

    Path chain(int rank) {
        return folder.resolve(rank + ".pem");
    }

    Path key(int rank) {
        return folder.resolve(rank + ".key");
    }

    Security security(int rank) throws IOException {
        return TlsCertificates.ofFiles(authority(), chain(rank), key(rank));
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.delete(file);
            }
        }
    }
}
