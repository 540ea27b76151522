// SPDX-License-Identifier: Apache-2.0
/// What others may take of a node, and what its own program may queue: connections
/// ([Admission][io.bulla.runtime.oob.limits.Admission], [AddressRate][io.bulla.runtime.oob.limits.AddressRate]), log
/// lines ([RefusalLog][io.bulla.runtime.oob.limits.RefusalLog]), messages and bytes
/// ([SendQuota][io.bulla.runtime.oob.limits.SendQuota]). None of it knows a peer or a session; not exported.
package io.bulla.runtime.oob.limits;
