// SPDX-License-Identifier: Apache-2.0
/// Prepared WebSocket messages and server-sent events, read by clients of others beside attackers.
package io.bulla.checks.websocket;
