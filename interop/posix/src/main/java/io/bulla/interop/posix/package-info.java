// SPDX-License-Identifier: Apache-2.0
/// System calls on sealed memory: the only place in Bulla with restricted methods.
///
/// - [PosixSocket][io.bulla.interop.posix.PosixSocket] sends a gather of sealed regions with one call, as far
///   as a cursor says.
/// - [MemfdSource][io.bulla.interop.posix.MemfdSource] is the GUARDED source: memory that the kernel seals, so
///   that neither native code nor another process can write it; [Guard][io.bulla.interop.posix.Guard] says how
///   far.
/// - [SharedSeal][io.bulla.interop.posix.SharedSeal] hands such a buffer to another process, as a descriptor;
///   what it receives and does not trust is a
///   [SealRefusedException][io.bulla.interop.posix.SealRefusedException].
/// - [SharedSlabSource][io.bulla.interop.posix.SharedSlabSource] has its slabs in memory files that other processes
///   can map, read-only, and only this one writes.
/// - [SlabLender][io.bulla.interop.posix.SlabLender] lends its buffers to processes that have a
///   [SlabBorrower][io.bulla.interop.posix.SlabBorrower]: 32 bytes each, whatever the size. The lender sees each as a
///   [SlabPeer][io.bulla.interop.posix.SlabPeer] with a [SlabQuota][io.bulla.interop.posix.SlabQuota]; its
///   [SlabLenderFigures][io.bulla.interop.posix.SlabLenderFigures] say what is lent.
/// - [ZeroCopySocket][io.bulla.interop.posix.ZeroCopySocket] sends on one TCP socket without the kernel's copy
///   (`MSG_ZEROCOPY`); [Outbox][io.bulla.interop.posix.Outbox] sends on many sockets from one thread, by io_uring
///   where the kernel has it. Both keep each send's handle until the kernel has done with the memory, which is
///   later than the last accepted byte: a [SocketSend][io.bulla.interop.posix.SocketSend] tells the two apart,
///   and which [SendPath][io.bulla.interop.posix.SendPath] was taken.
/// - [FixedTable][io.bulla.interop.posix.FixedTable] is an io_uring as a device that knows memory: each of its
///   reads and writes is a [FixedTransfer][io.bulla.interop.posix.FixedTransfer].
/// - [SealedFileWriter][io.bulla.interop.posix.SealedFileWriter] writes buffers to a file by such a table, past the
///   page cache; [FileFigures][io.bulla.interop.posix.FileFigures] say which way the bytes went.
/// - [PosixException][io.bulla.interop.posix.PosixException] carries the kernel's error number.
///
/// The program is started with `--enable-native-access=io.bulla.interop.posix` (or `ALL-UNNAMED` on the class
/// path); the first use says so when it is missing. Linux on x86-64 and AArch64.
@NullMarked
package io.bulla.interop.posix;

import org.jspecify.annotations.NullMarked;
