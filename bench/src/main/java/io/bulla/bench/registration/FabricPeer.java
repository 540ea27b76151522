// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.registration;

import io.bulla.interop.fabric.FabricDomain;
import io.bulla.interop.fabric.FabricEndpoint;
import io.bulla.pool.device.Peer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HexFormat;

/// A process that writes into another one's memory until it is killed. Arguments: provider, the other one's name in
/// hexadecimal, key, target, bytes.
public final class FabricPeer {

    private static final Duration LONGEST = Duration.ofSeconds(60);

    private FabricPeer() {}

    /// Ends when the write does, or after a minute.
    ///
    /// @param args see above
    /// @throws Exception if the fabric refuses
    public static void main(String... args) throws Exception {
        FabricDomain domain = FabricDomain.open(args[0]);
        FabricEndpoint endpoint = domain.endpoint(new Peer(0, "reader"));
        long reader = endpoint.connect(HexFormat.of().parseHex(args[1]));
        long bytes = Long.parseLong(args[4]);
        MemorySegment dead = Arena.global().allocate(bytes, 64);
        dead.fill((byte) 'd');
        endpoint.write(reader, Long.parseLong(args[2]), Long.parseLong(args[3]), dead)
                .await(LONGEST);
    }
}
