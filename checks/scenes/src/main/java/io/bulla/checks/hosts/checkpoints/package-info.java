// SPDX-License-Identifier: Apache-2.0

/// Nodes of several hosts that take checkpoints while hosts go silent or die at a step of one.
package io.bulla.checks.hosts.checkpoints;
