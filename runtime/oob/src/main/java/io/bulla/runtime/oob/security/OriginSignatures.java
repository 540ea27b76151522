// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.io.IOException;

/// Signs what a node says of its broadcasts, and checks what others say of theirs. Any thread may call, and several
/// at once; never the event loop.
///
/// What is signed, and why relays cannot change it: docs/security.md.
public interface OriginSignatures {

    /// The most bytes of a signature, with all that is sent along to check it by.
    int MOST_BYTES = 16 << 10;

    /// Signs in the name of this node.
    ///
    /// @param statement what the node says: some hundred bytes at most
    /// @return a signature, with what others check it by; at most [#MOST_BYTES]
    /// @throws IOException that says why there is none
    byte[] sign(byte[] statement) throws IOException;

    /// Checks that a node has said something. What it is given comes from a peer that may be an attacker.
    ///
    /// @param origin rank of the node
    /// @param statement what it is to have said
    /// @param signature as [#sign] of the origin's has made it, or anything else
    /// @throws IOException that says why, if the signature is not the origin's, or is of something else
    void check(int origin, byte[] statement, byte[] signature) throws IOException;
}
