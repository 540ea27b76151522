// SPDX-License-Identifier: Apache-2.0
/// System calls on sealed memory: what all rooms of this module say when a call fails.
///
/// | package | what it does |
/// |---|---|
/// | `io.bulla.posix.socket` | sends sealed buffers: by one gathering call, or without the kernel's copy |
/// | `io.bulla.posix.memfd` | seals memory by the kernel, and hands it to another process as a descriptor |
/// | `io.bulla.posix.file` | writes buffers to files past the page cache, from memory that an io_uring knows |
/// | `io.bulla.posix.lending` | lends buffers to other processes, 32 bytes each, whatever the size |
///
/// - [PosixException][io.bulla.posix.PosixException] carries the kernel's error number, an
///   [Errno][io.bulla.posix.Errno].
/// - [SealRefusedException][io.bulla.posix.SealRefusedException] tells why something that another process
///   handed over was not taken.
///
/// The program is started with `--enable-native-access=io.bulla.posix` (or `ALL-UNNAMED` on the class
/// path); the first use says so when it is missing. Linux on x86-64 and AArch64.
@NullMarked
package io.bulla.posix;

import org.jspecify.annotations.NullMarked;
