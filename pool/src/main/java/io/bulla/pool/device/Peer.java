// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

import java.util.Objects;

/// A process at the other end.
///
/// @param id tells it from all others, also from one that was started again in its place
/// @param name for people
public record Peer(long id, String name) {

    /// Checks the name.
    ///
    /// @throws NullPointerException if `name` is `null`
    public Peer {
        Objects.requireNonNull(name, "name");
    }

    @Override
    public String toString() {
        return name + "#" + id;
    }
}
