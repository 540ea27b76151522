// SPDX-License-Identifier: Apache-2.0
/// One peer: what goes to it, what comes from it, what finds it, and the table of all.
///
/// The node's event loop's, but for the table, the quota, and what is consumed, which are any thread's. Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.peer;

import org.jspecify.annotations.NullMarked;
