// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.runtime.oob.internal.bypass.Rendezvous;
import io.bulla.runtime.oob.internal.connection.Connection;
import io.bulla.runtime.oob.internal.connection.Writer;
import org.jspecify.annotations.Nullable;

/// The carrier of a session: there as long as the peer is CONNECTED. One event loop's.
///
/// @param rendezvous beside the connection, or `null`
public record Carrier(
        Connection connection, Writer writer, @Nullable Rendezvous rendezvous) {

    /// Writes the frames that are owed, if the channel takes them.
    void sayCredit() {
        connection.owed().oweAck();
        connection.sayOwed();
    }
}
