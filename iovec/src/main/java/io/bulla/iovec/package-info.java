// SPDX-License-Identifier: Apache-2.0
/// Where bytes are. Knows no ownership.
///
/// - [IoVec][io.bulla.iovec.IoVec] is an immutable, ordered list of read-only regions, read as one run of bytes:
///   size, slice, concatenation, absolute typed reads, fresh `ByteBuffer[]` for a gathering write. One region or
///   many is an inner difference, not a type.
/// - [IoVecCursor][io.bulla.iovec.IoVecCursor] is one send's progress through it, for NIO;
///   [NativeIoVecCursor][io.bulla.iovec.NativeIoVecCursor] the same for system calls, through a
///   [NativeIoVec][io.bulla.iovec.NativeIoVec], the `struct iovec[]` image that all sends share.
/// - [CopyTally][io.bulla.iovec.CopyTally] counts the copies that an `IoVec` was asked to make, so that a program
///   can show that it makes none.
/// - [Generation][io.bulla.iovec.Generation] is a stamp that makes stale views throw.
///
/// There is no position in anything shared: readers and sends own theirs. Who keeps the memory alive is the
/// caller's matter.
@NullMarked
package io.bulla.iovec;

import org.jspecify.annotations.NullMarked;
