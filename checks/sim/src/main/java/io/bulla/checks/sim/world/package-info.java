// SPDX-License-Identifier: Apache-2.0
/// Virtual time, and what happens in it: events on one thread, chance from one seed, coroutines, memory, the log.
package io.bulla.checks.sim.world;
