// SPDX-License-Identifier: Apache-2.0
/// Simulated machines and processes, for simulations of what is built on nodes.
package io.bulla.checks.sim.machines;
