// SPDX-License-Identifier: Apache-2.0
/// An immutable value of bytes.
///
/// ```
/// MemorySource --regions--> BufferBuilder --seal()--> SealedBuffer --share() slice() concat()--> more handles
///      ^                                                   |
///      +------------------- the last close() --------------+
/// ```
///
/// - [SealedBuffer][io.bulla.buffer.SealedBuffer] is one holder's handle on bytes that never change again.
/// - [BufferBuilder][io.bulla.buffer.BufferBuilder] is the only writable state. It belongs to one thread and
///   grows by taking another region, never by moving what is written; `seal()` ends it.
/// - [BufferReader][io.bulla.buffer.BufferReader] reads back what a builder wrote, with a position of its own.
/// - [MemorySource][io.bulla.buffer.MemorySource] hands out regions; [ArenaSource][io.bulla.buffer.ArenaSource]
///   is the default one, [MemoryBudget][io.bulla.buffer.MemoryBudget] its hard limit in bytes.
@NullMarked
package io.bulla.buffer;

import org.jspecify.annotations.NullMarked;
