// SPDX-License-Identifier: Apache-2.0
/// Sealed buffers as gRPC messages: packed once, sent to many streams, received without a copy.
///
/// - [SealedMarshaller][io.bulla.interop.grpc.SealedMarshaller] stands in a method's descriptor where protobuf's
///   marshaller stands: what is sent and what is received is a sealed buffer of the same bytes.
/// - [Broadcast][io.bulla.interop.grpc.Broadcast] sends one message to every stream that is subscribed: a
///   [Fanout][io.bulla.fanout.Fanout] whose subscribers are calls.
/// - [ParsedMessage][io.bulla.interop.grpc.ParsedMessage] is a protobuf message that was parsed where its bytes lie,
///   for a relay that looks into what it hands on.
/// - [CallHandles][io.bulla.interop.grpc.CallHandles] is an interceptor that closes what gRPC drops with a call.
///
/// gRPC copies each message into a buffer of its transport, once for each stream: that copy is what its design
/// costs. What is saved is the second serialization, and the heap it needs.
@NullMarked
package io.bulla.interop.grpc;

import org.jspecify.annotations.NullMarked;
