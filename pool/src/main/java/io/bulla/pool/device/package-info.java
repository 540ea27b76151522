// SPDX-License-Identifier: Apache-2.0
/// What a device has to say to be allowed at the memory of slabs: a network card, a ring of the kernel's, a
/// fabric.
///
/// - [Registrar][io.bulla.pool.device.Registrar] is the device: it makes a
///   [MemoryRegistration][io.bulla.pool.device.MemoryRegistration] on a slab, and retires it.
/// - [DeviceCapabilities][io.bulla.pool.device.DeviceCapabilities] is what it can do, and above all its
///   [Fence][io.bulla.pool.device.Fence]: what it takes until it has stopped.
/// - [MemoryRegistrationLookup][io.bulla.pool.device.MemoryRegistrationLookup] is how a device's own operations find
///   the mark of a buffer; a [MemoryRegistrationUse][io.bulla.pool.device.MemoryRegistrationUse] keeps it for one of
///   them.
///
/// Two events end a device's access: *no new access*, and *the memory is yours*. Only the second one ends the
/// hold on the slab. What keeps the marks, and decides when to retire them, is `native/registration`.
@NullMarked
package io.bulla.pool.device;

import org.jspecify.annotations.NullMarked;
