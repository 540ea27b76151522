// SPDX-License-Identifier: Apache-2.0
/// A broadcast of one message to many nodes, and a node of it.
///
/// [XcastCommand][io.bulla.cli.xcast.XcastCommand] reads the options; [Xcast][io.bulla.cli.xcast.Xcast] is one
/// broadcast from start to end; a [Crew][io.bulla.cli.xcast.Crew] is the other nodes, in this process, in processes
/// of this host, or elsewhere; [LaunchMessage][io.bulla.cli.xcast.LaunchMessage] is what is sent;
/// [Meters][io.bulla.cli.xcast.Meters] count what it costs; [Report][io.bulla.cli.xcast.Report] is what is printed.
/// [NodeCommand][io.bulla.cli.xcast.NodeCommand] is one node by itself.
package io.bulla.cli.xcast;
