// SPDX-License-Identifier: Apache-2.0
/// Hands one file to many processes of this host, as one descriptor.
///
/// [ShareCommand][io.bulla.cli.share.ShareCommand] reads the options; [Share][io.bulla.cli.share.Share] hands the
/// file over; [Receivers][io.bulla.cli.share.Receivers] are the other processes, seen from here, and
/// [ShareReceiver][io.bulla.cli.share.ShareReceiver] is their program.
package io.bulla.cli.share;
