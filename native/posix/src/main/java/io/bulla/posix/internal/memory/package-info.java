// SPDX-License-Identifier: Apache-2.0
/// Sealed memory files that are mapped in this process, whichever process made them.
///
/// `SlabFile` is one as a slab's memory, which this process alone writes. `SealedFile` finds the file that a buffer's
/// memory is in. `ReceivedFile` maps one that another process handed over, once `SealCheck` has looked at it.
@NullMarked
package io.bulla.posix.internal.memory;

import org.jspecify.annotations.NullMarked;
