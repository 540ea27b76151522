// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.sim;

/// A member or an unauthenticated peer that does not keep to the protocol.
final class Intruder {

    static final int HOSTS = 2;

    private Intruder() {}

    static void begin(Simulation simulation, Line line) {
        throw new UnsupportedOperationException("not yet");
    }

    static void leave(Net net, int size) {}
}
