// SPDX-License-Identifier: Apache-2.0
/// Jobs in virtual time that are killed at any step of a checkpoint and go on from the newest one.
package io.bulla.checks.sim.checkpoint;
