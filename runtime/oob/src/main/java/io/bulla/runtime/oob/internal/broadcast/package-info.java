// SPDX-License-Identifier: Apache-2.0
/// Broadcasts: down the trees to the children, to this node's handlers, and up again as confirmations.
///
/// The node's event loop's, but for [OwnBroadcasts][io.bulla.runtime.oob.internal.broadcast.OwnBroadcasts], which the
/// program's threads call, and the checks of signatures, which have a thread of their own. Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.broadcast;

import org.jspecify.annotations.NullMarked;
