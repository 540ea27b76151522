// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import io.bulla.runtime.oob.bulk.BulkTransport;

/// The carrier of long messages beside the connections.
///
/// @param transport of this node
/// @param above messages of at least so many bytes
public record BulkSettings(BulkTransport transport, long above) {}
