// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import io.bulla.runtime.oob.cut.NodeCut;

/// Numbers of a session that goes on from a cut: none fits a session that has begun at 0.
public final class RestoredNumbers {

    private static final long RESTORED = 1L << 62;

    private RestoredNumbers() {}

    public static long of(long number) {
        return number == NodeCut.UNNUMBERED ? NodeCut.UNNUMBERED : number | RESTORED;
    }
}
