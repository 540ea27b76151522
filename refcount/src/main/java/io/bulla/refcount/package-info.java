// SPDX-License-Identifier: Apache-2.0
/// Who keeps a thing alive. Knows no memory.
///
/// - [RefCount][io.bulla.refcount.RefCount] counts the holders of one resource and runs its free action exactly
///   once. It is a mechanism: its steps are not public, so no holder can release what another holds.
/// - [Lease][io.bulla.refcount.Lease] is one holder's claim. `close()` ends this claim, twice is harmless, and no
///   other claim is touched. Leases are never recycled.
/// - [LeaseTrace][io.bulla.refcount.LeaseTrace] listens to claims as they open and close;
///   [LeaseTally][io.bulla.refcount.LeaseTally] counts them, [LeaseLedger][io.bulla.refcount.LeaseLedger] lists
///   who holds what and heals the forgotten.
/// - [SendTicket][io.bulla.refcount.SendTicket] keeps one claim until every event it waits for has happened:
///   the bytes are accepted *and* the memory is no longer read. [KernelSend][io.bulla.refcount.KernelSend] does
///   so by the rules of the kernel's zero-copy sends.
@NullMarked
package io.bulla.refcount;

import org.jspecify.annotations.NullMarked;
