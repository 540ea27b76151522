package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;

/// A received message.
///
/// @param origin rank of the node that first sent it
/// @param tag chosen by its program
/// @param buffer the bytes, open while the handler runs; to keep them, `share()`
public record Message(int origin, int tag, SealedBuffer buffer) {}
