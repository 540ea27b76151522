// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// Addresses at which a socket may be reached.
final class Candidates {

    private static final int MOST = 32;

    private Candidates() {}

    /// All addresses of a socket: the one that it is bound to, or those of all interfaces that are up. Those that
    /// only this host knows are last.
    static List<InetSocketAddress> of(InetSocketAddress bound) throws IOException {
        if (!bound.getAddress().isAnyLocalAddress()) {
            return List.of(bound);
        }
        List<InetAddress> all = new ArrayList<>();
        for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
            if (each.isUp()) {
                each.inetAddresses().forEach(all::add);
            }
        }
        return all.stream()
                .filter(address -> !address.isLinkLocalAddress() && !address.isMulticastAddress())
                .sorted(Comparator.comparing(InetAddress::isLoopbackAddress)
                        .thenComparing(address -> !(address instanceof Inet4Address)))
                .limit(MOST)
                .map(address -> new InetSocketAddress(address, bound.getPort()))
                .toList();
    }

    /// Those that are of use to a reader: on its own host the loopback first, from elsewhere none of these, where
    /// they would be another program's.
    static List<InetSocketAddress> seenFrom(boolean sameHost, List<InetSocketAddress> addresses) {
        Stream<InetSocketAddress> here = addresses.stream()
                .filter(address -> sameHost && address.getAddress().isLoopbackAddress());
        Stream<InetSocketAddress> anywhere =
                addresses.stream().filter(address -> !address.getAddress().isLoopbackAddress());
        return Stream.concat(here, anywhere).toList();
    }
}
