// SPDX-License-Identifier: Apache-2.0
/// The simulated network, and Netty's channels on it.
package io.bulla.checks.sim.net;
