// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import javax.net.ssl.SSLContext;

/// Files of the nodes of one trial job, for tests of other packages.
public final class NodeFiles {

    private final Path folder;
    private final Trial trial;

    private NodeFiles(Path folder) {
        this.folder = folder;
        this.trial = Trial.in(folder, "trial");
    }

    public static NodeFiles in(Path folder) {
        return new NodeFiles(folder);
    }

    public Security certified(int rank) throws IOException {
        return trial.node(rank);
    }

    /// Authority, certificates and key of a node.
    public List<Path> certifiedFiles(int rank) throws IOException {
        return trial.files(trial.authority().issue(rank));
    }

    public Path secretFile() throws IOException {
        return Trial.secret(folder, "a secret that is long enough");
    }

    /// Somebody who speaks TLS and trusts everybody.
    ///
    /// @param certified whether with a certificate, of an authority of its own that calls itself as this job's
    ///     does
    public SSLContext stranger(boolean certified) throws Exception {
        return Attackers.context(
                certified ? Trial.in(folder, "trial").authority().issue(0) : null);
    }

    public Security secret(int rank) throws IOException {
        return secret(rank, "a secret that is long enough");
    }

    public Security secret(int rank, String secret) throws IOException {
        return SharedSecret.ofFile(Trial.secret(folder, secret), new PeerIdentity("trial", rank));
    }
}
