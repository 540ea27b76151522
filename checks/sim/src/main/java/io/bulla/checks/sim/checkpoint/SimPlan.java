// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.checkpoint;

import java.util.SplittableRandom;

/// What a run is like, drawn from its seed alone.
///
/// @param jobs one after the other, each but the last one ended by a crash
/// @param tokens that go round, at most 60
/// @param keeps checkpoints that stay
/// @param delayNanos of a packet
/// @param peerTimeoutMillis after which a silent node is given up; no fault lasts a fifth of it
/// @param longest bytes behind a token
/// @param casts whether there are broadcasts
/// @param late whether messages wait for a receiver
/// @param cuts whether connections break
/// @param stalls whether nodes and ways stand still for a while
/// @param full whether the disk is full at times
/// @param onLoop whether tokens are handled on the event loop, but for the slow ones
record SimPlan(
        long seed,
        int nodes,
        int jobs,
        int tokens,
        int keeps,
        long delayNanos,
        int socketBytes,
        int pieceBytes,
        int fragment,
        int coalesce,
        int window,
        int radix,
        int peerTimeoutMillis,
        int longest,
        boolean casts,
        boolean late,
        boolean cuts,
        boolean stalls,
        boolean full,
        boolean onLoop) {

    static SimPlan of(long seed) {
        SplittableRandom random = new SplittableRandom(seed * 0x9e3779b97f4a7c15L + 24);
        int nodes = 2 + (random.nextInt(3) + random.nextInt(2)) % 4;
        int fragment = 1024 << random.nextInt(3);
        return new SimPlan(
                seed,
                nodes,
                2 + random.nextInt(2),
                nodes * (1 + random.nextInt(6)),
                1 + random.nextInt(2),
                20_000L << random.nextInt(7),
                2048 << random.nextInt(6),
                200 << random.nextInt(6),
                fragment,
                random.nextBoolean() ? 0 : 1024,
                8192 << random.nextInt(5),
                1 + random.nextInt(3),
                random.nextInt(3) == 0 ? 500 : 5000,
                random.nextInt(3) == 0 ? 3 * fragment : 200,
                random.nextInt(2) == 0,
                random.nextInt(3) == 0,
                random.nextInt(2) == 0,
                random.nextInt(3) == 0,
                random.nextInt(4) == 0,
                random.nextInt(2) == 0);
    }
}
