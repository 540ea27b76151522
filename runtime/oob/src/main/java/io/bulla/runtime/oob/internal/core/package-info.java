// SPDX-License-Identifier: Apache-2.0
/// What every room of a node knows: its settings, its loop with the clocks, its log and flight events. It names no
/// connection, peer or message on its way.
///
/// [LoopContext][io.bulla.runtime.oob.internal.core.LoopContext] is the node's event loop's, but for what says that
/// any thread may call it; the rest is immutable, or any thread's. Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.core;

import org.jspecify.annotations.NullMarked;
