// SPDX-License-Identifier: Apache-2.0
/// The shape of a job: which nodes a broadcast goes to next, and where peers listen.
///
/// - [Routing][io.bulla.runtime.oob.topology.Routing] is the tree of a broadcast, the same at every node:
///   [Radix][io.bulla.runtime.oob.topology.Radix] (the default),
///   [Binomial][io.bulla.runtime.oob.topology.Binomial] or [Star][io.bulla.runtime.oob.topology.Star].
/// - [PeerDirectory][io.bulla.runtime.oob.topology.PeerDirectory] finds peers; a
///   [PeersFile][io.bulla.runtime.oob.topology.PeersFile] is one that a person writes, a
///   [DnsDirectory][io.bulla.runtime.oob.topology.DnsDirectory] knows a pattern of host names.
@NullMarked
package io.bulla.runtime.oob.topology;

import org.jspecify.annotations.NullMarked;
