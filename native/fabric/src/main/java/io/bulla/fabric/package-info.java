// SPDX-License-Identifier: Apache-2.0
/// libfabric as a device whose peers write into landings.
///
/// - [FabricProvider][io.bulla.fabric.FabricProvider] is a way between processes that libfabric has
///   here, and what it promises.
/// - [FabricDomain][io.bulla.fabric.FabricDomain] is one of them, opened: a
///   [Registrar][io.bulla.pool.device.Registrar].
/// - [FabricEndpoint][io.bulla.fabric.FabricEndpoint] serves one peer, so that its end is a fence for
///   this peer alone.
/// - A [FabricOperation][io.bulla.fabric.FabricOperation] has a deadline of its own: a
///   [FabricWrite][io.bulla.fabric.FabricWrite] into a peer's memory, a
///   [FabricSend][io.bulla.fabric.FabricSend] of a buffer as a message, and a
///   [FabricReceive][io.bulla.fabric.FabricReceive] of one.
/// - A [FabricLink][io.bulla.fabric.FabricLink] carries buffers to one peer and from it by rendezvous: each
///   is a [LinkSend][io.bulla.fabric.LinkSend] until the peer has it, within the peer's
///   [LinkLimits][io.bulla.fabric.LinkLimits].
///
/// The library is loaded when the first provider is asked for, and not before.
@NullMarked
package io.bulla.fabric;

import org.jspecify.annotations.NullMarked;
