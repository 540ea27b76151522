// SPDX-License-Identifier: Apache-2.0
/// Sealed buffers on Netty 4.2 channels.
///
/// - [SealedWrite][io.bulla.interop.netty.SealedWrite] queues a header and a sealed buffer as one outbound
///   message, without a copy. It owns a handle from before the write is queued until its promise completed and
///   Netty let go of the memory.
/// - [FrameReader][io.bulla.interop.netty.FrameReader] reads frames into regions of a `MemorySource`, without a
///   cumulation buffer: straight from a NIO socket, with one copy behind TLS and on the native transports.
/// - [MeteredAllocator][io.bulla.interop.netty.MeteredAllocator] counts what a channel's allocator hands out.
@NullMarked
package io.bulla.interop.netty;

import org.jspecify.annotations.NullMarked;
