// SPDX-License-Identifier: Apache-2.0
/// The `bulla` command. A leaf: it only calls the libraries.
///
/// [Bulla][io.bulla.cli.Bulla] is the entry; `xcast` and `node` are in [xcast][io.bulla.cli.xcast], `share` in
/// [share][io.bulla.cli.share]; [ExplainCommand][io.bulla.cli.ExplainCommand] and
/// [CertCommand][io.bulla.cli.CertCommand] are here; [shell][io.bulla.cli.shell] is what they all need.
package io.bulla.cli;
