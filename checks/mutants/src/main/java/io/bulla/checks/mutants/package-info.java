// SPDX-License-Identifier: Apache-2.0
/// Runs the mutants of `stress/mutants`: changes one line of a source, and looks for the test that sees it.
package io.bulla.checks.mutants;
