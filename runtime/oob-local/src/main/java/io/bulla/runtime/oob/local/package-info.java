// SPDX-License-Identifier: Apache-2.0
/// What nodes of one host lend each other by: [SlabMemory], a [io.bulla.runtime.oob.LocalMemory] of a
/// [io.bulla.posix.lending.SharedSlabSource].
///
/// The slabs, the leases and who may map them are those of `native/posix`; which peer a process is, and what is sent
/// to it, is what nodes know. This package joins the two.
@NullMarked
package io.bulla.runtime.oob.local;

import org.jspecify.annotations.NullMarked;
