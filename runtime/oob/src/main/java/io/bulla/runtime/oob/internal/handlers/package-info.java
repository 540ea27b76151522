// SPDX-License-Identifier: Apache-2.0
/// The thread of user code: who receives which tag, what waits for it, and the words of the layer above.
///
/// Handlers run on the one thread of
/// [HandlerExecutor][io.bulla.runtime.oob.internal.handlers.HandlerExecutor]; any thread may put something in. Not
/// exported.
@NullMarked
package io.bulla.runtime.oob.internal.handlers;

import org.jspecify.annotations.NullMarked;
