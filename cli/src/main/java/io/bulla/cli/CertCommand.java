// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import io.bulla.cli.security.TrialCertificates;
import io.bulla.cli.shell.Usage;
import io.bulla.runtime.oob.internal.certificates.CertificateAuthority;
import io.bulla.runtime.oob.security.PeerIdentity;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `bulla cert`: a throw-away authority and what each node of a trial needs.
@Command(
        name = "cert",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = {
            "Makes certificates and keys for a trial: ca.pem for all, rank-N.pem and rank-N.key for each node.",
            "The authority's own key is not written, so no node can be added later."
        })
final class CertCommand implements Callable<Integer> {

    private static final int MOST_DAYS = 36_500;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--nodes",
            paramLabel = "COUNT",
            defaultValue = "16",
            description = "Nodes besides the root: ranks 0 to this.")
    int nodes;

    @Option(
            names = "--days",
            paramLabel = "COUNT",
            defaultValue = "7",
            description = "Days until the certificates expire.")
    int days;

    @Option(
            names = "--job",
            paramLabel = "NAME",
            defaultValue = "trial",
            description = "Name of the job: letters, digits, dots, dashes.")
    String job;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "Folder to make; it must not exist.")
    Path out;

    @Override
    public Integer call() throws IOException {
        Usage.atLeast(spec, "--nodes", 0, nodes);
        Usage.atLeast(spec, "--days", 1, days);
        Usage.atMost(spec, "--days", MOST_DAYS, days);
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        Instant until = now.plus(Duration.ofDays(days));
        CertificateAuthority authority =
                CertificateAuthority.create(checkedJob(), now.minus(TrialCertificates.EARLIER), until);
        if (Files.exists(out, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException("folder exists already: out=" + out);
        }
        writeAll(authority);
        PrintWriter print = spec.commandLine().getOut();
        print.printf(Locale.ROOT, "cert: job=%s ranks=0-%d until=%s out=%s%n", job, nodes, until, out);
        print.flush();
        return 0;
    }

    private String checkedJob() {
        try {
            return new PeerIdentity(job, 0).job();
        } catch (IllegalArgumentException wrong) {
            throw Usage.error(spec, wrong.getMessage());
        }
    }

    /// All files or none: they are written beside the folder, which then gets its name.
    private void writeAll(CertificateAuthority authority) throws IOException {
        Path parent = out.toAbsolutePath().getParent();
        if (!Files.isDirectory(parent)) {
            throw new NoSuchFileException("no such folder: parent=" + out.getParent() + " out=" + out);
        }
        TrialCertificates fresh = TrialCertificates.hidden(parent);
        try {
            fresh.write(authority, nodes);
            fresh.moveTo(out);
        } catch (Throwable failure) {
            fresh.close();
            throw failure;
        }
    }
}
