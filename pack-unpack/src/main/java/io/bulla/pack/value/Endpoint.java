// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import io.bulla.iovec.IoVec;
import org.jspecify.annotations.Nullable;

/// An address of a device.
///
/// @param uuid of the device, or null
/// @param osName of the device, or null
/// @param address borrowed, as what it was read from
public record Endpoint(@Nullable String uuid, @Nullable String osName, IoVec address) implements Composite {}
