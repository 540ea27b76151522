// SPDX-License-Identifier: Apache-2.0
/// Schedules as text, and what the programs of nodes do with the messages in them.
package io.bulla.checks.sim.schedule;
