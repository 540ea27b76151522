// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jdk.jfr.FlightRecorder;
import org.junit.jupiter.api.Test;

/// Whether events are made.
class FlightGateTest {

    @Test
    void gateIsOpenOnceTheRecorderWasStarted() {
        // another test may have started it
        assertEquals(FlightRecorder.isInitialized(), FlightGate.isOpen());
        FlightRecorder.getFlightRecorder();
        assertTrue(FlightGate.isOpen());
    }
}
