// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import io.bulla.buffer.SealedBuffer;
import org.jspecify.annotations.Nullable;

/// A message that waits to be written.
///
/// @param call `null` if no answer is expected
/// @param tag of the call
/// @param body its own
record Frame(@Nullable Call call, int tag, SealedBuffer body) {}
