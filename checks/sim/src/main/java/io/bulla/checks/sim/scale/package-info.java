// SPDX-License-Identifier: Apache-2.0
/// Broadcasts to large jobs, by a model of what processors and links take.
package io.bulla.checks.sim.scale;
