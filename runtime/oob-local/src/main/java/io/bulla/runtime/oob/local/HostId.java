// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// Where a process runs, by more than the files that it sees: containers share those of a volume, and the files of
/// all network namespaces are the same.
///
/// @param boot the kernel's name for itself since it was booted. The same says little: all containers of a machine
///     have it
/// @param network the kernel's name of the network namespace, such as `net:[4026531840]`; empty if it says none.
///     What one namespace calls a host is another's peer over the network
/// @param user number of the user, as its own user namespace counts
record HostId(String boot, String network, int user) {

    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path SELF = Path.of("/proc/self");

    /// This process's.
    ///
    /// @throws IOException if the kernel has no name for itself
    static HostId here() throws IOException {
        return new HostId(
                Files.readString(BOOT).strip(), networkHere(), (Integer) Files.getAttribute(SELF, "unix:uid"));
    }

    private static String networkHere() {
        try {
            return Files.readSymbolicLink(SELF.resolve("ns/net")).toString();
        } catch (IOException unsaid) {
            return "";
        }
    }

    /// Why another process is not of this host.
    ///
    /// @param acrossNamespaces whether all processes of one boot are of one host
    /// @return the first thing that differs, and both of its values; or empty
    Optional<String> differs(HostId there, boolean acrossNamespaces) {
        if (!boot.equals(there.boot)) {
            return Optional.of("boot=" + there.boot + " here=" + boot);
        }
        if (acrossNamespaces) {
            return Optional.empty();
        }
        if (!network.equals(there.network)) {
            return Optional.of("network-namespace=" + there.network + " here=" + network);
        }
        return user == there.user ? Optional.empty() : Optional.of("user=" + there.user + " here=" + user);
    }
}
