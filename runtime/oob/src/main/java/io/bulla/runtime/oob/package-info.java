/// Out-of-band messaging: small tagged messages to peers, broadcasts down a tree.
///
/// - [OobNode][io.bulla.runtime.oob.OobNode] is one participant: it listens, sends, receives by tag, and
///   broadcasts.
/// - [Message][io.bulla.runtime.oob.Message] is what a [MessageHandler][io.bulla.runtime.oob.MessageHandler]
///   gets: the sealed bytes themselves. The node closes its handle when the handler returns; keeping them is
///   `share()`.
/// - [Routing][io.bulla.runtime.oob.Routing] is the shape of a broadcast, [Radix][io.bulla.runtime.oob.Radix] the
///   usual one.
/// - [Security][io.bulla.runtime.oob.Security] is how connections are protected, and who stands at the other end.
/// - [Frame][io.bulla.runtime.oob.Frame] is the header on the wire.
/// - [SendPolicy][io.bulla.runtime.oob.SendPolicy] is how a send gets its handle: a share, or the copy of old.
package io.bulla.runtime.oob;
