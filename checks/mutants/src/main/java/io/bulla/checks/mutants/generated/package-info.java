// SPDX-License-Identifier: Apache-2.0
/// Lets PIT change logic, and holds each change that lives to a row of `stress/mutants/alive`.
package io.bulla.checks.mutants.generated;
