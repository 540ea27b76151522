// SPDX-License-Identifier: Apache-2.0
/// The `bulla` command. A leaf: it only calls.
///
/// [Bulla][io.bulla.cli.Bulla] is the entry; [XcastCommand][io.bulla.cli.XcastCommand] reads the options;
/// [Xcast][io.bulla.cli.Xcast] is one broadcast from start to end; [LaunchMessage][io.bulla.cli.LaunchMessage]
/// is what it sends; [Meters][io.bulla.cli.Meters] count what it costs; [Report][io.bulla.cli.Report] is what
/// it prints.
///
/// [Share][io.bulla.cli.Share] hands one file to many processes; [Receivers][io.bulla.cli.Receivers] are these,
/// seen from here, and [ShareReceiver][io.bulla.cli.ShareReceiver] is their program.
package io.bulla.cli;
