// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.security;

import io.bulla.cli.shell.Usage;
import io.bulla.runtime.oob.security.PeerIdentity;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.security.SharedSecret;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/// Options that say how nodes of several processes authenticate each other. There is no default: plaintext has to be
/// asked for by name.
public final class SecurityOptions {

    @Option(
            names = "--certs",
            paramLabel = "DIR",
            description = "TLS by certificates: ca.pem, rank-N.pem and rank-N.key, as `bulla cert` makes them.")
    Path certs;

    @Option(names = "--secret", paramLabel = "FILE", description = "TLS by a secret that all nodes of the job have.")
    Path secret;

    @Option(
            names = "--job",
            paramLabel = "NAME",
            defaultValue = "trial",
            description = "Name of the job that the secret is for.")
    String job = "trial";

    @Option(names = "--plaintext", description = "No protection at all, between loopback addresses.")
    boolean plaintext;

    @Option(
            names = "--plaintext-beyond-loopback",
            description = "No protection at all, on a network that is closed by other means.")
    boolean beyondLoopback;

    public boolean isGiven() {
        return given() > 0;
    }

    public boolean isByCertificates() {
        return certs != null;
    }

    /// The protection of one node.
    ///
    /// @throws IOException that names the file, if one is not as it should be
    public Security of(CommandSpec command, int rank) throws IOException {
        if (given() != 1) {
            throw Usage.error(
                    command,
                    (given() == 0 ? "peers have to prove who they are" : "only one can be")
                            + ": --certs DIR, --secret FILE, or, for no protection at all, --plaintext");
        }
        if (certs != null) {
            return new TrialCertificates(certs).of(rank);
        }
        if (secret != null) {
            return SharedSecret.ofFile(secret, identity(command, rank));
        }
        return plaintext ? Security.plaintext() : Security.plaintextBeyondLoopback();
    }

    private PeerIdentity identity(CommandSpec command, int rank) {
        try {
            return new PeerIdentity(job, rank);
        } catch (IllegalArgumentException wrong) {
            throw Usage.error(command, wrong.getMessage());
        }
    }

    private long given() {
        return Stream.of(certs != null, secret != null, plaintext, beyondLoopback)
                .filter(yes -> yes)
                .count();
    }
}
