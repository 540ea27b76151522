// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.runtime.oob.internal.bypass.Rendezvous;
import io.bulla.runtime.oob.internal.connection.Connection;
import io.bulla.runtime.oob.internal.connection.Writer;
import org.jspecify.annotations.Nullable;

/// What carries a session now: there as long as the peer is CONNECTED. One event loop's.
///
/// @param rendezvous beside the connection, or `null`
public record Carrier(
        Connection connection, Writer writer, @Nullable Rendezvous rendezvous) {

    /// What is owed is said at once, if the channel takes it.
    void sayCredit() {
        connection.owed().oweAck();
        connection.sayOwed();
    }
}
