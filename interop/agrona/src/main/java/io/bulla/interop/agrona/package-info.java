// SPDX-License-Identifier: Apache-2.0
/// Builders and sealed buffers as Agrona's buffers, for codecs such as SBE's. No JVM flag is needed.
///
/// - [BuilderDirectBuffer][io.bulla.interop.agrona.BuilderDirectBuffer] is a builder as Agrona's
///   `MutableDirectBuffer`.
/// - [SealedDirectBuffer][io.bulla.interop.agrona.SealedDirectBuffer] is a vector as its `DirectBuffer`, most of
///   which is [DirectReads][io.bulla.interop.agrona.DirectReads].
@NullMarked
package io.bulla.interop.agrona;

import org.jspecify.annotations.NullMarked;
