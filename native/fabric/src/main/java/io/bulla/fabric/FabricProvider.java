// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.pool.device.Fence;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A way between processes that libfabric has on this machine.
///
/// @param name libfabric's, such as `tcp;ofi_rxm`
/// @param domain what it runs on, such as a network device
/// @param fence what it needs until a peer has stopped writing; [Fence#NONE] for one that was not tried
/// @param keyBytes of a key
/// @param mostMessageBytes of one write; `Long.MAX_VALUE` for no limit
/// @param byAddress whether a peer's write names an address, and not an offset
/// @param choosesKeys whether it makes keys up
public record FabricProvider(
        String name,
        String domain,
        Fence fence,
        long keyBytes,
        long mostMessageBytes,
        boolean byAddress,
        boolean choosesKeys) {

    // as measured: docs/registration.md
    private static final Map<String, Fence> KNOWN = Map.of(
            "tcp;ofi_rxm", Fence.ENDPOINT,
            "sockets", Fence.ENDPOINT,
            "udp;ofi_rxd", Fence.ENDPOINT,
            "shm", Fence.STEP);

    // the same sources by two names: of version 1.17, and of those behind it
    private static final Set<String> NOT_OFFERED = Set.of("net", "tcp");

    // libfabric's FI_ENODATA
    private static final int NO_SUCH_PROVIDER = 61;

    /// Loads libfabric, and asks it.
    ///
    /// @return those with endpoints for datagrams that arrive, and with writes to remote memory; on loopback
    /// @throws FabricException if there is no libfabric, or another version than 1.17 to 2.x, or it cannot
    ///     say what there is
    /// @throws UnsupportedOperationException if native access is not enabled
    public static List<FabricProvider> all() throws FabricException {
        List<FabricProvider> found = new ArrayList<>();
        for (String name : List.of("tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm")) {
            try (FabricInfo info = FabricInfo.of(name)) {
                found.add(info.provider());
            } catch (FabricException refused) {
                // asked by name: that there is no such provider is an answer
                if (refused.number() != NO_SUCH_PROVIDER) {
                    throw refused;
                }
            }
        }
        return found;
    }

    /// @throws FabricException for one whose peers can end this process
    static void checkOffered(String name) throws FabricException {
        if (NOT_OFFERED.contains(name)) {
            throw new FabricException(
                    "provider",
                    0,
                    "a peer's wrong writes can crash this process: provider=" + name + " use=tcp;ofi_rxm");
        }
    }

    static Fence fenceOf(String name) {
        return KNOWN.getOrDefault(name, Fence.NONE);
    }
}
