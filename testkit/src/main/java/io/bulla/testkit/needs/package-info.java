// SPDX-License-Identifier: Apache-2.0
/// Skips tests that need a piece of the machine, by name, where it is missing.
///
/// - [Piece][io.bulla.testkit.needs.Piece] lists what a machine may lack, each with its name and how to get it.
/// - [Needs][io.bulla.testkit.needs.Needs] marks a test, or a class of tests, that needs a piece.
/// - [Probe][io.bulla.testkit.needs.Probe] tries a piece: it is used, not only looked for.
///
/// A skipped test says `needs NAME: why; remedy`. `./check tests` counts the skips by name, and `./check bare` takes
/// the pieces away.
@NullMarked
package io.bulla.testkit.needs;

import org.jspecify.annotations.NullMarked;
