// SPDX-License-Identifier: Apache-2.0
/// The system calls, and what is made of a call's result: the only place of this module with restricted methods.
///
/// `Libc` has the functions, `Call` a thread's scratch for them, `Memfd` those on memory files and mappings.
/// `Descriptor` and `Mapping` own what a call has given, and `Unmapper` frees it behind a holder's back. A failed
/// call answers with the negative error number; `CallFailure` makes the exception of it.
@NullMarked
package io.bulla.posix.internal.calls;

import org.jspecify.annotations.NullMarked;
