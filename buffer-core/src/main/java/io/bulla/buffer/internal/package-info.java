// SPDX-License-Identifier: Apache-2.0
/// For modules of Bulla's alone: exported to these by name, and no part of the API. On the class path, where exports
/// do not count, it may change at any time.
///
/// - [BuilderAccess][io.bulla.buffer.internal.BuilderAccess] reaches the memory that a builder writes to.
/// - [IntrusiveStack][io.bulla.buffer.internal.IntrusiveStack] hands over what a thread gives back.
/// - [FlightGate][io.bulla.buffer.internal.FlightGate] says whether the flight recorder is to be told.
@NullMarked
package io.bulla.buffer.internal;

import org.jspecify.annotations.NullMarked;
