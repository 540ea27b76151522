// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.device.Access;
import java.time.Duration;

/// Who keeps what of a slab from being used again: a line of a report.
///
/// @param device by which
/// @param slab number of the slab
/// @param bytes marked
/// @param access who uses them
/// @param peer that has the key, or `-`
/// @param age since it was made
/// @param phase how far it has come
public record PinnedMemory(
        String device, long slab, long bytes, Access access, String peer, Duration age, String phase) {

    @Override
    public String toString() {
        return device + " slab=" + slab + " bytes=" + bytes + " access=" + access + " peer=" + peer + " ageMs="
                + age.toMillis() + " " + phase;
    }
}
