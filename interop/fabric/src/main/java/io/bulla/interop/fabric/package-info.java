// SPDX-License-Identifier: Apache-2.0
/// libfabric as a device whose peers write into landings.
///
/// - [FabricProvider][io.bulla.interop.fabric.FabricProvider] is a way between processes that libfabric has
///   here, and what it promises.
/// - [FabricDomain][io.bulla.interop.fabric.FabricDomain] is one of them, opened: a
///   [Registrar][io.bulla.pool.device.Registrar].
/// - [FabricEndpoint][io.bulla.interop.fabric.FabricEndpoint] serves one peer, so that its end is a fence for
///   this peer
///   alone.
/// - [FabricWrite][io.bulla.interop.fabric.FabricWrite] is a write into a peer's memory, with a deadline of its
///   own.
///
/// The library is loaded when the first provider is asked for, and not before.
@NullMarked
package io.bulla.interop.fabric;

import org.jspecify.annotations.NullMarked;
