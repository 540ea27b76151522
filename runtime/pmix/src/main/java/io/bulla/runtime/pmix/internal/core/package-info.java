// SPDX-License-Identifier: Apache-2.0
/// What each floor of a client is given: its settings, its failures, lengths of waits. Not exported.
@NullMarked
package io.bulla.runtime.pmix.internal.core;

import org.jspecify.annotations.NullMarked;
