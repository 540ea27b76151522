// SPDX-License-Identifier: Apache-2.0
/// What a process asks of the server: its job's data, values of others, fences, published names. Not exported.
@NullMarked
package io.bulla.runtime.pmix.internal.job;

import org.jspecify.annotations.NullMarked;
