// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.security;

import io.bulla.cli.shell.TrialFolder;
import io.bulla.runtime.oob.internal.certificates.CertificateAuthority;
import io.bulla.runtime.oob.internal.certificates.CertificateAuthority.Issued;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.security.TlsCertificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A folder of certificates for the nodes of one job: `ca.pem`, `rank-N.pem`, `rank-N.key`.
///
/// One that this process makes is removed when the process is told to end, as by Ctrl-C, before this is closed.
public final class TrialCertificates implements AutoCloseable {

    // clocks of a trial's machines may differ
    public static final Duration EARLIER = Duration.ofHours(1);

    private final Path folder;
    // null if it is not a temporary one
    private final @Nullable TrialFolder trial;
    // null if the folder stays
    private final @Nullable Thread hook;
    // under the lock: a hook may close this beside the thread that writes
    private boolean closed;

    /// Those that are there, and stay.
    ///
    /// @param folder that only its owner may look into
    public TrialCertificates(Path folder) {
        this.folder = folder;
        this.trial = null;
        this.hook = null;
    }

    private TrialCertificates(Path folder, @Nullable TrialFolder trial) {
        this.folder = folder;
        this.trial = trial;
        this.hook = new Thread(this::interrupted, "bulla-certs-end");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /// Makes them in a folder that goes with this object.
    ///
    /// @param nodes besides the root
    public static TrialCertificates temporary(int nodes) throws IOException {
        Instant now = Instant.now();
        TrialFolder trial = TrialFolder.create("bulla-certs");
        TrialCertificates files = new TrialCertificates(trial.path(), trial);
        try {
            files.write(CertificateAuthority.create("bulla", now.minus(EARLIER), now.plus(Duration.ofDays(1))), nodes);
            return files;
        } catch (Throwable failure) {
            files.close();
            throw failure;
        }
    }

    /// A hidden folder for files that get another name by [#moveTo], or go with this object.
    ///
    /// @param parent folder that it is in
    public static TrialCertificates hidden(Path parent) throws IOException {
        return new TrialCertificates(Files.createTempDirectory(parent, ".bulla-cert"), null);
    }

    /// Where they are.
    public Path folder() {
        return folder;
    }

    /// Writes the files of ranks 0 to `nodes`.
    ///
    /// @throws IOException if they cannot be written, or this is closed meanwhile
    public void write(CertificateAuthority authority, int nodes) throws IOException {
        write(() -> Files.writeString(folder.resolve("ca.pem"), authority.certificatePem()));
        for (int rank = 0; rank <= nodes; rank++) {
            Issued node = authority.issue(rank);
            Path certificate = certificate(rank);
            Path key = key(rank);
            write(() -> {
                Files.writeString(certificate, node.certificatePem());
                node.writeKey(key);
            });
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    /// All of it before this is closed, or nothing.
    private synchronized void write(Step step) throws IOException {
        if (closed) {
            throw new IOException("certificates were removed meanwhile: folder=" + folder);
        }
        step.run();
    }

    /// Gives the folder its name; it stays from now on.
    public void moveTo(Path name) throws IOException {
        write(() -> {
            Files.move(folder, name);
            closed = true;
        });
        removeHook();
    }

    /// Reads those of one rank.
    public Security of(int rank) throws IOException {
        return TlsCertificates.ofFiles(folder.resolve("ca.pem"), certificate(rank), key(rank));
    }

    /// Deletes them all.
    @Override
    public void close() throws IOException {
        removeHook();
        delete();
    }

    private void interrupted() {
        try {
            delete();
        } catch (IOException somethingStays) {
            System.err.println("bulla: cannot remove " + folder);
        }
    }

    private synchronized void delete() throws IOException {
        closed = true;
        if (trial != null) {
            trial.close();
        } else if (Files.exists(folder)) {
            try (var files = Files.newDirectoryStream(folder)) {
                for (Path file : files) {
                    Files.delete(file);
                }
            }
            Files.delete(folder);
        }
    }

    private void removeHook() {
        try {
            if (hook != null) {
                Runtime.getRuntime().removeShutdownHook(hook);
            }
        } catch (IllegalStateException itRuns) {
            // it does the same
        }
    }

    private Path certificate(int rank) {
        return folder.resolve("rank-" + rank + ".pem");
    }

    private Path key(int rank) {
        return folder.resolve("rank-" + rank + ".key");
    }
}
