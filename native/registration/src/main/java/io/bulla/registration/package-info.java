// SPDX-License-Identifier: Apache-2.0
/// What devices and peers may do with memory, and when it is the program's again.
///
/// - [Registrations][io.bulla.registration.Registrations] keeps what one device knows of slabs, for
///   sends: a [RegistrationUse][io.bulla.registration.RegistrationUse] for each operation. No peer gets a key to it.
/// - [RemoteWriteTarget][io.bulla.registration.RemoteWriteTarget] is memory that peers write to, each by a
///   [Grant][io.bulla.registration.Grant] with a key of its own, until it is sealed.
/// - [Revocation][io.bulla.registration.Revocation] says whether the memory is the program's again, or
///   in quarantine until the device has stopped.
/// - [PinBudget][io.bulla.registration.PinBudget] limits what devices pin.
///
/// Closing a registration is no reason to use its memory again: bytes of a dead process arrived after it, with
/// four of five providers of libfabric. So every end here is two events, *no new access* and *the memory is
/// yours*, and the memory's slab is held until the second one. docs/registration.md has the measurements.
@NullMarked
package io.bulla.registration;

import org.jspecify.annotations.NullMarked;
