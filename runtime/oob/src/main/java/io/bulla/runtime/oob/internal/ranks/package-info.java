// SPDX-License-Identifier: Apache-2.0
/// The check of a rank that a program names, which the façade and the values share; not exported.
@NullMarked
package io.bulla.runtime.oob.internal.ranks;

import org.jspecify.annotations.NullMarked;
