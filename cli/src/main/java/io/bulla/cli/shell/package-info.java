// SPDX-License-Identifier: Apache-2.0
/// What every command needs: options refused with a reason ([Usage][io.bulla.cli.shell.Usage]), child processes that
/// end
/// with this one ([Children][io.bulla.cli.shell.Children]), folders that do, too
/// ([TrialFolder][io.bulla.cli.shell.TrialFolder]), and what Ctrl-C interrupted
/// ([Interruption][io.bulla.cli.shell.Interruption]).
package io.bulla.cli.shell;
