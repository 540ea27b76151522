// SPDX-License-Identifier: Apache-2.0
/// What two nodes have in common beyond a connection: numbers, lanes with the sends in them, and messages that are
/// put together.
///
/// The node's event loop's; a [PendingSend][io.bulla.runtime.oob.internal.session.PendingSend] is made by the
/// sender's thread, and may be completed by any. Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.session;

import org.jspecify.annotations.NullMarked;
