// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.iovec.IoVec;

/// An address of a device.
///
/// @param uuid of the device, or null
/// @param osName of the device, or null
/// @param address borrowed, as what it was read from
public record Endpoint(String uuid, String osName, IoVec address) implements Composite {}
