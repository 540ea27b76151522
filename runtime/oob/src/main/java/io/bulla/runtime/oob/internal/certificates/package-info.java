// SPDX-License-Identifier: Apache-2.0
/// Certificates that are written here, no part of the API: the message layer makes one for itself where a secret is
/// what nodes know each other by; the command, the benchmarks and tests issue them for a trial. A job that matters
/// has an authority of its own.
///
/// - [CertificateAuthority][io.bulla.runtime.oob.internal.certificates.CertificateAuthority] lives as long as a trial
///   and issues a certificate and a key for each node.
/// - [Certificates][io.bulla.runtime.oob.internal.certificates.Certificates] and
///   [Der][io.bulla.runtime.oob.internal.certificates.Der] put a certificate together,
///   [Pem][io.bulla.runtime.oob.internal.certificates.Pem] writes it as text.
@NullMarked
package io.bulla.runtime.oob.internal.certificates;

import org.jspecify.annotations.NullMarked;
