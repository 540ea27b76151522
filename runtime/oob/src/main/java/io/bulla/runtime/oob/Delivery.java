package io.bulla.runtime.oob;

/// A message that was written to a peer's socket, or handed to this node itself.
///
/// @param peer rank of the peer
/// @param tag of the message
/// @param bytes of its body
public record Delivery(int peer, int tag, long bytes) {}
