// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The user and the group that this process runs as.
///
/// @param user its number
/// @param group its number
public record UserIds(int user, int group) {

    /// @throws IOException if the system has none
    public static UserIds ofProcess() throws IOException {
        Path process = Path.of("/proc/self");
        try {
            if (Files.exists(process)) {
                return of(process);
            }
            Path own = Files.createTempFile("bulla-pmix", null);
            try {
                return of(own);
            } finally {
                Files.delete(own);
            }
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException none) {
            throw new IOException("the system does not say which user this is: " + none.getMessage(), none);
        }
    }

    private static UserIds of(Path own) throws IOException {
        return new UserIds(
                (Integer) Files.getAttribute(own, "unix:uid"), (Integer) Files.getAttribute(own, "unix:gid"));
    }
}
