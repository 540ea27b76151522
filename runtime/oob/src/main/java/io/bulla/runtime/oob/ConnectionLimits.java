// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

/// How many connections a node accepts, so that unauthenticated peers cannot take its memory, descriptors and time.
///
/// @param greeting accepted connections that have not said hello yet, at most
/// @param connections accepted connections in all, at most
/// @param perSecond accepted connections of one address in a second, on average and at once, at most; an IPv6
///     address counts by its first 64 bits
public record ConnectionLimits(int greeting, int connections, int perSecond) {

    /// 64 that greet, 4096 in all, 256 a second of one address.
    public static final ConnectionLimits DEFAULT = new ConnectionLimits(64, 4096, 256);

    /// Checks the numbers.
    ///
    /// @throws IllegalArgumentException if one is less than 1
    public ConnectionLimits {
        if (greeting < 1 || connections < 1 || perSecond < 1) {
            throw new IllegalArgumentException("a limit is at least 1: greeting=" + greeting + " connections="
                    + connections + " perSecond=" + perSecond);
        }
    }
}
