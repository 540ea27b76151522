// SPDX-License-Identifier: Apache-2.0
/// What others may take of a node, and what its own program may queue.
///
/// - Flow control: [SendQuota][io.bulla.runtime.oob.limits.SendQuota] bounds what the program has on its way,
///   [Credit][io.bulla.runtime.oob.limits.Credit] what peers may have here,
///   [Allowance][io.bulla.runtime.oob.limits.Allowance] is a peer's credit as its sender sees it.
/// - Connections: [Admission][io.bulla.runtime.oob.limits.Admission] and
///   [AddressRate][io.bulla.runtime.oob.limits.AddressRate]; log lines:
///   [RefusalLog][io.bulla.runtime.oob.limits.RefusalLog].
///
/// None of it knows a peer or a session; not exported.
@NullMarked
package io.bulla.runtime.oob.limits;

import org.jspecify.annotations.NullMarked;
