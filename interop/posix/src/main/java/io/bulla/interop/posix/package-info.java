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
/// - [PosixException][io.bulla.interop.posix.PosixException] carries the kernel's error number.
///
/// The program is started with `--enable-native-access=io.bulla.interop.posix` (or `ALL-UNNAMED` on the class
/// path); the first use says so when it is missing. Linux on x86-64 and AArch64.
package io.bulla.interop.posix;
