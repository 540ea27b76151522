// SPDX-License-Identifier: Apache-2.0
/// Reads and writes from memory that an io_uring knows, and files that are written so.
///
/// - [FixedBufferTable][io.bulla.posix.file.FixedBufferTable] is an io_uring as a device that knows memory:
///   each of its reads and writes is a [FixedBufferOperation][io.bulla.posix.file.FixedBufferOperation].
/// - [SealedFileWriter][io.bulla.posix.file.SealedFileWriter] writes buffers to a file by such a table, past
///   the page cache; [FileFigures][io.bulla.posix.file.FileFigures] say which way the bytes went.
///
/// All of it belongs to the thread that opened the table.
@NullMarked
package io.bulla.posix.file;

import org.jspecify.annotations.NullMarked;
