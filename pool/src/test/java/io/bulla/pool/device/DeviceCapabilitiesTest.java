// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What a device says of itself.
class DeviceCapabilitiesTest {

    private static DeviceCapabilities withRoom(long marks, long bytes) {
        return new DeviceCapabilities("fabric-0", Set.of(Access.LOCAL), true, false, marks, bytes, Fence.NONE);
    }

    @Test
    void deviceHasRoomForOneByteInOneMark() {
        assertEquals(1, withRoom(1, 1).mostMarks());
        assertEquals(
                "device without room: device=fabric-0 mostMarks=0 mostBytes=1",
                assertThrows(IllegalArgumentException.class, () -> withRoom(0, 1))
                        .getMessage());
        assertEquals(
                "device without room: device=fabric-0 mostMarks=1 mostBytes=0",
                assertThrows(IllegalArgumentException.class, () -> withRoom(1, 0))
                        .getMessage());
    }

    @Test
    void accessesAreThoseOfTheTimeItWasMade() {
        EnumSet<Access> accesses = EnumSet.of(Access.LOCAL);
        DeviceCapabilities device = new DeviceCapabilities("fabric-0", accesses, true, false, 1, 1, Fence.NONE);
        accesses.add(Access.REMOTE_WRITE);
        assertEquals(Set.of(Access.LOCAL), device.accesses());
    }

    @Test
    void stepPromisesNoEndOfWrites() {
        assertEquals(
                List.of(Fence.COMPLETION, Fence.ENDPOINT),
                Stream.of(Fence.values()).filter(Fence::isPromised).toList());
    }
}
