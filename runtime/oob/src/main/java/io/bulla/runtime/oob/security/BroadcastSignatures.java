// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

/// Whether broadcasts are signed by their origin. To begin with signatures in a job that runs, all nodes first
/// [#SIGN], then [#REQUIRE].
public enum BroadcastSignatures {
    /// This node signs nothing and checks nothing: relays are trusted with what they hand on.
    NONE,
    /// This node signs its broadcasts, and takes those of others that are not signed, or signed rightly.
    SIGN,
    /// This node signs its broadcasts, and takes those of others only if they are signed rightly.
    REQUIRE
}
