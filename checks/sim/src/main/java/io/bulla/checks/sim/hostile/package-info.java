// SPDX-License-Identifier: Apache-2.0
/// Peers that break the protocol, and what their floods leave in a node.
package io.bulla.checks.sim.hostile;
