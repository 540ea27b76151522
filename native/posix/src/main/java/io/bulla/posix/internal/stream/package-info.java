// SPDX-License-Identifier: Apache-2.0
/// The descriptor of a stream socket, and the messages that go over it whole or not at all.
///
/// `StreamSocket` is what a user's socket, a lender and a borrower stand on; `WholeSend` sends every byte of a
/// vector, `Rights` a message with descriptors. A stream that lacks a part is broken, and lets no further call in.
@NullMarked
package io.bulla.posix.internal.stream;

import org.jspecify.annotations.NullMarked;
