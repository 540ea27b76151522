// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.bulla.runtime.oob.Security;
import java.io.IOException;
import java.nio.file.Path;

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

    public Security secret(int rank) throws IOException {
        return secret(rank, "a secret that is long enough");
    }

    public Security secret(int rank, String secret) throws IOException {
        return SharedSecret.ofFile(Trial.secret(folder, secret), new PeerIdentity("trial", rank));
    }
}
