// SPDX-License-Identifier: Apache-2.0
/// Which connections a node takes: [Admission][io.bulla.runtime.oob.internal.admission.Admission] and
/// [AddressRate][io.bulla.runtime.oob.internal.admission.AddressRate]; log lines:
/// [RefusalLog][io.bulla.runtime.oob.internal.admission.RefusalLog].
///
/// None of it knows a peer or a session; not exported.
@NullMarked
package io.bulla.runtime.oob.internal.admission;

import org.jspecify.annotations.NullMarked;
