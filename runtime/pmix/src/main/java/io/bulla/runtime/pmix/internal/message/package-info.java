// SPDX-License-Identifier: Apache-2.0
/// The bodies of messages: requests packed, answers read, data kept packed as it came. Not exported.
@NullMarked
package io.bulla.runtime.pmix.internal.message;

import org.jspecify.annotations.NullMarked;
