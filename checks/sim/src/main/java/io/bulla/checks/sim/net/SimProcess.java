// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.net;

/// What an event loop and its channels need of the simulated process that they are part of.
public interface SimProcess {

    int rank();

    Net net();

    /// On its own clock, in nanoseconds.
    long clock();

    /// Its loop has something to do.
    void poke();

    boolean isKilled();

    /// Something of a peer's has arrived that is more than noise.
    void heard(int peer);

    /// It has read so many bytes in one call, which costs nothing unless it says so.
    default void read(int bytes) {}

    /// It is about to write so many bytes in one call, which costs nothing unless it says so.
    default void wrote(int bytes) {}
}
