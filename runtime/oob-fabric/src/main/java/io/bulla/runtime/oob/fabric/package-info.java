// SPDX-License-Identifier: Apache-2.0
/// Long messages of nodes, carried by libfabric beside their connections.
///
/// [FabricBulk][io.bulla.runtime.oob.fabric.FabricBulk] is a provider of libfabric as the bulk transport
/// of a node: each connection has an endpoint of its own, whose end is the fence. What arrives lands in a
/// pool's slabs, by grants of `native/registration`.
@NullMarked
package io.bulla.runtime.oob.fabric;

import org.jspecify.annotations.NullMarked;
