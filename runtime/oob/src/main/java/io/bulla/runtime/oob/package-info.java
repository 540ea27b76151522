// SPDX-License-Identifier: Apache-2.0
/// Out-of-band messaging: small tagged messages to peers, broadcasts down a tree.
///
/// - [OobNode][io.bulla.runtime.oob.OobNode] is one participant: it listens, sends, receives by tag, and
///   broadcasts. [OobNodeBuilder][io.bulla.runtime.oob.OobNodeBuilder] is what it is made of.
/// - [Send][io.bulla.runtime.oob.Send] is a message on its way, a stage that completes once with a
///   [Delivery][io.bulla.runtime.oob.Delivery]; [SendOptions][io.bulla.runtime.oob.SendOptions] says when.
/// - [Message][io.bulla.runtime.oob.Message] is what a [MessageHandler][io.bulla.runtime.oob.MessageHandler]
///   gets: the sealed bytes themselves. The node closes its handle when the handler returns; keeping them is
///   `share()`.
/// - [Routing][io.bulla.runtime.oob.topology.Routing] is the shape of a broadcast,
///   [Radix][io.bulla.runtime.oob.topology.Radix] the usual one;
///   [BroadcastResult][io.bulla.runtime.oob.BroadcastResult] says whom it reached.
/// - [Security][io.bulla.runtime.oob.security.Security] is how connections are protected, and who stands at the other
///   end.
/// - [NodeCut][io.bulla.runtime.oob.cut.NodeCut] is what a checkpoint takes of a node.
/// - [SendPolicy][io.bulla.runtime.oob.SendPolicy] is how a send gets its handle: a share, or the copy of old.
///
/// Inside, by floors that know each other downwards only: `internal.core` (settings, the loop's context), `session`
/// (lanes, numbers), `handlers` (the thread of user code), `bypass` (ways beside a connection), `connection`
/// (channels), `peer`, `broadcast`, `node` (assembly and lifetime), `cut`. All is on the one event loop of a node but
/// for what says otherwise.
@NullMarked
package io.bulla.runtime.oob;

import org.jspecify.annotations.NullMarked;
