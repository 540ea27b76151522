// SPDX-License-Identifier: Apache-2.0
/// Broadcasts one message to many nodes, and runs one of these nodes.
///
/// - [XcastCommand][io.bulla.cli.xcast.XcastCommand] reads the options; [Xcast][io.bulla.cli.xcast.Xcast] runs one
///   broadcast from start to end.
/// - [Crew][io.bulla.cli.xcast.Crew] starts the other nodes: in this process, in processes of this host, or
///   elsewhere.
/// - [LaunchMessage][io.bulla.cli.xcast.LaunchMessage] is the message; [Meters][io.bulla.cli.xcast.Meters] count its
///   cost.
/// - [NodeCommand][io.bulla.cli.xcast.NodeCommand] runs one node by itself.
package io.bulla.cli.xcast;
