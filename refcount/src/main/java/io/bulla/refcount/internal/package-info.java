// SPDX-License-Identifier: Apache-2.0
/// For modules of Bulla's alone: exported to these by name, and no part of the API. On the class path, where exports
/// do not count, it may change at any time.
///
/// - [OwnThread][io.bulla.refcount.internal.OwnThread] is how each module makes a thread of its own.
/// - [Live][io.bulla.refcount.internal.Live] is what there is in this process and can tell about itself.
/// - [StillHeld][io.bulla.refcount.internal.StillHeld] says that a closed source is held.
/// - [Failures][io.bulla.refcount.internal.Failures] joins what the steps of a batch throw, and closes
///   several things.
@NullMarked
package io.bulla.refcount.internal;

import org.jspecify.annotations.NullMarked;
