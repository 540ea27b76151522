// SPDX-License-Identifier: Apache-2.0
/// Record batches of Arrow Flight, serialized once and sent to many clients.
///
/// - [FlightFeeds][io.bulla.interop.flight.FlightFeeds] puts feeds beside the streams of a Flight service: the ticket
///   of a `DoGet` says which one a client gets.
/// - [FlightFeed][io.bulla.interop.flight.FlightFeed] is one stream for many clients: a schema, then batches. Its
///   clients are a [Broadcast][io.bulla.interop.grpc.Broadcast]'s, with that one's bounds for the slow.
///
/// Flight itself writes each batch, so that the bytes are its own; what is new is that it does so once. The clients
/// are any Flight clients.
@NullMarked
package io.bulla.interop.flight;

import org.jspecify.annotations.NullMarked;
