// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.SLAB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.device.RetireReason;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// One registration, as the threads see it that use it and take it back.
class RegistrationTest {

    @Test
    void oneThatIsUsedIsNotEvictedAndAnIdleOneOnce() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, SLAB)) {
            RegistrationUse use = Objects.requireNonNull(scene.registrations.use(buffer, 0));
            Registration made = scene.registrations.marks.registrations().getFirst();
            assertFalse(made.evict());
            assertEquals(List.of(), scene.device.endings());
            use.close();
            assertTrue(made.evict());
            assertFalse(made.evict());
            assertEquals(List.of(RetireReason.IDLE), scene.device.endings());
            assertNull(made.use());
        }
    }

    @Test
    void oneThatWasStoppedWhileItWasMadeIsNotShown() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, SLAB)) {
            Slab slab = Objects.requireNonNull(Slab.of(buffer.iovec(), 0));
            Registration shown = new Registration(scene.registrations.marks, slab);
            assertNull(shown.use(), "not yet");
            assertTrue(shown.shown());
            assertNotNull(shown.use());
            Registration stopped = new Registration(scene.registrations.marks, slab);
            stopped.retireWhenIdle();
            assertFalse(stopped.shown());
            assertNull(stopped.use());
        }
    }

    @Test
    void useAndItsEndAreOfTheRoundInWhichTheyAre() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, SLAB)) {
            Slab slab = Objects.requireNonNull(Slab.of(buffer.iovec(), 0));
            DeviceMarks marks = scene.registrations.marks;
            marks.nextRound();
            Registration made = new Registration(marks, slab);
            assertEquals(0, made.lastUsed());
            made.shown();
            assertEquals(marks.tick(), made.lastUsed());
            RegistrationUse use = Objects.requireNonNull(made.use());
            long shown = marks.tick();
            marks.nextRound();
            assertEquals(shown, made.lastUsed());
            use.close();
            assertEquals(shown + 1, made.lastUsed());
            marks.nextRound();
            use.close();
            assertEquals(shown + 1, made.lastUsed(), "it was over");
        }
    }
}
