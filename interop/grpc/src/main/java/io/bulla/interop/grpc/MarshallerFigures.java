// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

/// Messages received so far, by what became of their bytes.
///
/// @param kept left in the transport's memory
/// @param pinned how many of these are still held
/// @param copied copied once
/// @param copiedBytes bytes of these copies
/// @param shared sent in the same process
public record MarshallerFigures(long kept, long pinned, long copied, long copiedBytes, long shared) {}
