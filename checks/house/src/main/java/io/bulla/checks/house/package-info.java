// SPDX-License-Identifier: Apache-2.0
/// Reads the house: its modules, knots of classes, ledger and accesses with a memory mode.
package io.bulla.checks.house;
