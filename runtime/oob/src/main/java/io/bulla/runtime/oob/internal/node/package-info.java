// SPDX-License-Identifier: Apache-2.0
/// A node put together, and its life: sends are taken in, the loop ticks, is suspended, closes.
///
/// The node's event loop's; the program's threads call
/// [Intake][io.bulla.runtime.oob.internal.node.Intake] and what says that any thread may call it. Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.node;

import org.jspecify.annotations.NullMarked;
