// SPDX-License-Identifier: Apache-2.0
/// Memory that this process maps by itself: memory files that the kernel seals, and slabs of huge pages.
///
/// - [MemfdSource][io.bulla.posix.memfd.MemfdSource] is the GUARDED source: neither native code nor another
///   process can write what it sealed; [MappingProtection][io.bulla.posix.memfd.MappingProtection] says how
///   far.
/// - [SealedFileHandoff][io.bulla.posix.memfd.SealedFileHandoff] hands such a buffer to another process, as a
///   descriptor. The receiver checks the seals before it maps.
/// - [HugePages][io.bulla.posix.memfd.HugePages] supplies a pool with slabs.
@NullMarked
package io.bulla.posix.memfd;

import org.jspecify.annotations.NullMarked;
