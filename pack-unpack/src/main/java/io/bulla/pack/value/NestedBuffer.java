// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import io.bulla.iovec.IoVec;

/// A packed buffer as a value. Its bytes are borrowed, as those of the buffer they were read from.
///
/// OPAL sends the bytes alone: there it must be described exactly if what it stands in is, for a C reader takes
/// its own default.
///
/// @param described whether its items carry their types
/// @param bytes its items
public record NestedBuffer(boolean described, IoVec bytes) implements Composite {}
