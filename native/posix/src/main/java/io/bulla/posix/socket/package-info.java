// SPDX-License-Identifier: Apache-2.0
/// Sockets that send sealed buffers by address.
///
/// - [PosixSocket][io.bulla.posix.socket.PosixSocket] sends a gather of sealed regions with one call, as far
///   as a cursor says.
/// - [ZeroCopySocket][io.bulla.posix.socket.ZeroCopySocket] sends on one TCP socket without the kernel's
///   copy (`MSG_ZEROCOPY`); [Outbox][io.bulla.posix.socket.Outbox] sends on many sockets from one thread, by
///   io_uring where the kernel has it.
/// - Both keep each send's handle until the kernel has done with the memory, which is later than the last accepted
///   byte: a [SocketSend][io.bulla.posix.socket.SocketSend] tells the two apart, and which
///   [SendPath][io.bulla.posix.socket.SendPath] was taken.
@NullMarked
package io.bulla.posix.socket;

import org.jspecify.annotations.NullMarked;
