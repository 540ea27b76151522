// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.wire;

/// Why a connection is not wanted; the ordinal is the code in a REFUSE's tag.
public enum Refusal {
    /// Not a node of this job, or not the one it says it is.
    STRANGER,
    /// No version that both speak.
    VERSION,
    /// Both connect at once; the other connection stays.
    OTHER_CONNECTION,
    /// The session that the hello knows of is over.
    SESSION_OVER,
    /// The node closes.
    CLOSING,
    /// Another process of the same rank is connected.
    CLAIMED_TWICE,
    /// The two nodes do not go on from the same checkpoint.
    OTHER_CHECKPOINT;

    private static final Refusal[] ALL = values();

    public static Refusal of(int code) {
        return code >= 0 && code < ALL.length ? ALL[code] : STRANGER;
    }
}
