// SPDX-License-Identifier: Apache-2.0
/// Prepared WebSocket messages and server-sent events on Netty 4.2: one message to many browsers.
///
/// - [io.bulla.interop.websocket.PreparedMessages] makes messages, with the settings of a server.
/// - [io.bulla.interop.websocket.PreparedMessage] is a message: framed once, compressed once, read by all.
/// - [io.bulla.interop.websocket.PreparedMessageHandler] writes them, among other frames, on one channel.
/// - [io.bulla.interop.websocket.SharedDeflate] negotiates permessage-deflate so that one compressed form fits all.
/// - [io.bulla.interop.websocket.ServerSentEvents] makes events of a stream, each the same bytes for all.
/// - [io.bulla.interop.websocket.EventStream] is the answer to a request for them: it writes them on one channel.
///
/// Sources: RFC 6455 (frames), RFC 7692 (permessage-deflate), WHATWG HTML, "Server-sent events", RFC 9112 (chunks).
@NullMarked
package io.bulla.interop.websocket;

import org.jspecify.annotations.NullMarked;
