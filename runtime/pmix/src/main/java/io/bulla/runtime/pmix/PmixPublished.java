// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.pack.value.Proc;

/// A value that a lookup found.
///
/// @param proc who published it
/// @param key under which name
/// @param value what it is
public record PmixPublished(Proc proc, String key, PmixValue value) {}
