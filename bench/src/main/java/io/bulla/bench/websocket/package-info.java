// SPDX-License-Identifier: Apache-2.0
/// One WebSocket message to many clients: prepared messages beside Netty's frames, and bytes that are framed already.
package io.bulla.bench.websocket;
