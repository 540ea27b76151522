// SPDX-License-Identifier: Apache-2.0
/// An io_uring by raw system calls: a `Ring`, and the `CompletionLoop` of what uses one. Both belong to the thread
/// that opened them.
@NullMarked
package io.bulla.posix.internal.uring;

import org.jspecify.annotations.NullMarked;
