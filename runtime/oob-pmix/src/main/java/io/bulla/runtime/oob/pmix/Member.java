// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.pack.value.Proc;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;

/// A node of a job.
///
/// @param rank of the node, 0 on without gaps: what [io.bulla.runtime.oob.OobNode] calls its rank
/// @param proc its process, as the launcher counts
/// @param life a random number of its own: a process that was started again has another one
/// @param addresses where it listens, the likeliest first
/// @param fingerprint what it published beside, such as the digest of its certificate in hexadecimal digits; empty
///     if nothing
public record Member(int rank, Proc proc, long life, List<InetSocketAddress> addresses, String fingerprint) {

    /// Copies the list.
    public Member {
        addresses = List.copyOf(addresses);
    }

    @Override
    public String toString() {
        return "node " + rank + " process=" + proc.namespace() + "." + proc.rank() + " life="
                + HexFormat.of().toHexDigits(life) + " addresses=" + addresses;
    }
}
