// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import org.jspecify.annotations.Nullable;

/// Distance to a device.
///
/// @param uuid of the device, or null
/// @param osName of the device, or null
/// @param deviceType see [DataType#DEVTYPE]
/// @param least smallest distance, without a sign
/// @param most largest distance, without a sign
public record DeviceDistance(
        @Nullable String uuid, @Nullable String osName, long deviceType, short least, short most)
        implements Composite {}
