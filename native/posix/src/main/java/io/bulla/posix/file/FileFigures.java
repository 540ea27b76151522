// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

/// Which way the bytes of a [SealedFileWriter] went.
///
/// @param registered bytes that the device took from registered memory
/// @param plain bytes that the device took from where they are, and the kernel pinned for this write alone
/// @param copied bytes that were copied first: they, or their place in the file, were not aligned
/// @param shortWrites how often the kernel took less than it was given
public record FileFigures(long registered, long plain, long copied, long shortWrites) {}
