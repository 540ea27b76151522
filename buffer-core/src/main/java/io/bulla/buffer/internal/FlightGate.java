// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import jdk.jfr.FlightRecorder;

/// Whether the JDK's flight recorder is to be told of anything: asked before a class of an event is named, since the
/// module `jdk.jfr` may be missing.
public final class FlightGate {

    private static final boolean PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightGate() {}

    /// Also false while the recorder was never started, so that its classes are not loaded for nothing.
    ///
    /// @return whether an event may be made
    public static boolean isOpen() {
        return PRESENT && FlightRecorder.isInitialized();
    }
}
