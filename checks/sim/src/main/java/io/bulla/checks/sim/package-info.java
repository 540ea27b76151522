// SPDX-License-Identifier: Apache-2.0
/// The programs of `./check sim`: they draw schedules from seeds, run them, shrink those that break a rule, and
/// change the protocol on purpose to see that a rule breaks.
package io.bulla.checks.sim;
