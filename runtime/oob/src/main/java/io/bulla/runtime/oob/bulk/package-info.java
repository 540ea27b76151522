// SPDX-License-Identifier: Apache-2.0
/// How long messages may go beside a node's connections, by a device that writes into a peer's memory.
///
/// - [BulkTransport][io.bulla.runtime.oob.bulk.BulkTransport] is the device of one node;
///   [BulkLine][io.bulla.runtime.oob.bulk.BulkLine] its end of a line to one peer, for as long as one
///   connection lasts.
/// - [BulkLanding][io.bulla.runtime.oob.bulk.BulkLanding] is memory that the peer may write to, by a key.
///
/// A node offers a line in its hello, and moves a long message by rendezvous: it asks, the peer lands and
/// grants, the bytes are written, the message takes its place in its lane. Whatever fails, the bytes go
/// by the connection.
@NullMarked
package io.bulla.runtime.oob.bulk;

import org.jspecify.annotations.NullMarked;
