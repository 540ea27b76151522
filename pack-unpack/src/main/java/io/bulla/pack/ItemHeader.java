// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.value.DataType;
import org.jspecify.annotations.Nullable;

/// The decoded start of an item.
///
/// @param typeId the id on the wire, or -1 if items are not described
/// @param type its type; `null` if items are not described or the id is none of the format's own
/// @param count number of values
public record ItemHeader(int typeId, @Nullable DataType type, int count) {}
