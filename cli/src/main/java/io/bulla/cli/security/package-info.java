// SPDX-License-Identifier: Apache-2.0
/// How the nodes of a command prove who they are.
///
/// - [SecurityOptions][io.bulla.cli.security.SecurityOptions] reads the options.
/// - [TrialCertificates][io.bulla.cli.security.TrialCertificates] writes and reads a folder of certificates.
package io.bulla.cli.security;
