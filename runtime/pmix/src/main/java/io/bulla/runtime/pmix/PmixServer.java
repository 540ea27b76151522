// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A server's URI, such as `prterun-host-12@0.0;tcp4://192.0.2.1:40123`.
///
/// @param name of the server's process: a name space, a dot, a rank
/// @param address where it listens
public record PmixServer(String name, InetSocketAddress address) {

    private static final Pattern URI = Pattern.compile(
            "(?<name>[^;]+\\.[0-9]+);(?:tcp4://(?<v4>[0-9.]+)|tcp6://\\[?(?<v6>[0-9a-fA-F:.%\\w]+?)\\]?)"
                    + ":(?<port>[0-9]{1,5})");

    /// Checks the fields.
    ///
    /// @throws NullPointerException if one is missing
    public PmixServer {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(address, "address");
    }

    static PmixServer parse(String variable, String uri) throws PmixException {
        Matcher words = URI.matcher(uri);
        if (words.matches()) {
            String literal = words.group("v4") != null ? words.group("v4") : "[" + words.group("v6") + "]";
            int port = Integer.parseInt(words.group("port"));
            try {
                if (port > 0 && port <= 0xffff) {
                    // digits only, so no name is looked up
                    return new PmixServer(
                            words.group("name"), new InetSocketAddress(InetAddress.getByName(literal), port));
                }
            } catch (UnknownHostException notAnAddress) {
                // said below
            }
        }
        throw new PmixException(
                PmixStatus.BAD_PARAMETER, "not the URI of a PMIx server over TCP: " + variable + "=" + uri);
    }
}
