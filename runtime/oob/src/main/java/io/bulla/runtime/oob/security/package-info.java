// SPDX-License-Identifier: Apache-2.0
/// How nodes know each other: TLS 1.3, and a proof of who is there before the first hello.
///
/// - [Security][io.bulla.runtime.oob.security.Security] is what a node asks for: it protects a channel and says whom
///   it belongs to. `Security.plaintext()` protects nothing.
/// - [TlsCertificates][io.bulla.runtime.oob.security.TlsCertificates] is mutual TLS: a node's certificate names
///   its job and its rank, a [PeerIdentity][io.bulla.runtime.oob.security.PeerIdentity].
/// - [SharedSecret][io.bulla.runtime.oob.security.SharedSecret] is for a closed job: one secret, which each end
///   proves to know for this very connection.
/// - [OriginSignatures][io.bulla.runtime.oob.security.OriginSignatures] signs broadcasts, so that relays cannot
///   change them; [BroadcastSignatures][io.bulla.runtime.oob.security.BroadcastSignatures] says whether a node signs
///   and checks.
///
/// What is withstood, what is not, and why it is done this way: docs/security.md.
@NullMarked
package io.bulla.runtime.oob.security;

import org.jspecify.annotations.NullMarked;
