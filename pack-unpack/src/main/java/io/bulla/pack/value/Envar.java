// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import org.jspecify.annotations.Nullable;

/// A change to an environment.
///
/// @param name of the variable, or null
/// @param value what to set or add, or null
/// @param separator between what is there and what is added
public record Envar(@Nullable String name, @Nullable String value, byte separator) implements Composite {}
