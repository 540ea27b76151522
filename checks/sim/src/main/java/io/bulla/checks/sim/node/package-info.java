// SPDX-License-Identifier: Apache-2.0
/// One run of a schedule: nodes, what their programs send and get, and the rules that all of it has to keep.
package io.bulla.checks.sim.node;
