// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

import java.util.Set;

/// The capabilities and limits of a device.
///
/// @param device its name, for people and reports
/// @param accesses which kinds of marks it makes
/// @param pins whether a marked page stays in memory, and counts against the process's limit
/// @param choosesKeys whether the device makes up keys; else it takes the one that is wanted
/// @param mostMarks at a time, at least 1
/// @param mostBytes of one mark, at least 1
/// @param fence what it needs until it has stopped
public record DeviceCapabilities(
        String device,
        Set<Access> accesses,
        boolean pins,
        boolean choosesKeys,
        long mostMarks,
        long mostBytes,
        Fence fence) {

    /// Checks and copies.
    ///
    /// @throws IllegalArgumentException if a limit is less than 1
    /// @throws NullPointerException if an argument is `null`
    public DeviceCapabilities {
        accesses = Set.copyOf(accesses);
        if (mostMarks < 1 || mostBytes < 1) {
            throw new IllegalArgumentException(
                    "device without room: device=" + device + " mostMarks=" + mostMarks + " mostBytes=" + mostBytes);
        }
    }
}
