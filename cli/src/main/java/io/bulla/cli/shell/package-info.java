// SPDX-License-Identifier: Apache-2.0
/// Tools of all commands.
///
/// - [Usage][io.bulla.cli.shell.Usage] refuses options with a reason.
/// - [Peers][io.bulla.cli.shell.Peers] is what `--peers` says.
/// - [Children][io.bulla.cli.shell.Children] starts child processes, which end with this one;
///   [TrialFolder][io.bulla.cli.shell.TrialFolder] makes folders that do, too.
/// - [Interruption][io.bulla.cli.shell.Interruption] says what Ctrl-C interrupted.
package io.bulla.cli.shell;
