// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.checkpoint;

import io.bulla.iovec.IoVec;

/// The saved state of a [SimRank].
record SimState(IoVec bytes, int nodes) {

    private static final int OF_TAG = 2 * Long.BYTES;
    private static final int OF_PEER = SimRank.TAGS * OF_TAG + Long.BYTES;

    long tokens() {
        return bytes.getLong(0);
    }

    long casts() {
        return bytes.getLong(Long.BYTES);
    }

    private static long at(int peer) {
        return 2L * Long.BYTES + (long) peer * OF_PEER;
    }

    long sent(int peer, int tag) {
        return bytes.getLong(at(peer) + (long) tag * OF_TAG);
    }

    long got(int peer, int tag) {
        return bytes.getLong(at(peer) + (long) tag * OF_TAG + Long.BYTES);
    }

    long seen(int peer) {
        return bytes.getLong(at(peer) + SimRank.TAGS * OF_TAG);
    }
}
