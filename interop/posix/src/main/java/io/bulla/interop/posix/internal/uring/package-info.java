// SPDX-License-Identifier: Apache-2.0
/// An io_uring by raw system calls. Each ring belongs to the thread that opened it.
@NullMarked
package io.bulla.interop.posix.internal.uring;

import org.jspecify.annotations.NullMarked;
