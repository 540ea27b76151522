// SPDX-License-Identifier: Apache-2.0
/// Channels: they are dialed or accepted, greet, read frames and write them.
///
/// The node's event loop's, which is that of its channels. It names a peer by what it needs of one,
/// [Connection.Owner][io.bulla.runtime.oob.internal.connection.Connection.Owner]. Not exported.
@NullMarked
package io.bulla.runtime.oob.internal.connection;

import org.jspecify.annotations.NullMarked;
