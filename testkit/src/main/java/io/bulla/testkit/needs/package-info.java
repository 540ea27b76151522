// SPDX-License-Identifier: Apache-2.0
/// What a test needs of the machine, and how it is skipped by name where that is missing.
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
