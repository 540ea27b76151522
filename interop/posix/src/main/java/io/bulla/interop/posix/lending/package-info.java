// SPDX-License-Identifier: Apache-2.0
/// Buffers that are lent to other processes of this host: 32 bytes each, whatever the size.
///
/// - [SharedSlabSource][io.bulla.interop.posix.lending.SharedSlabSource] has its slabs in memory files that other
///   processes can map, read-only, and only this one writes.
/// - [SlabLender][io.bulla.interop.posix.lending.SlabLender] lends its buffers to processes that have a
///   [SlabBorrower][io.bulla.interop.posix.lending.SlabBorrower].
/// - The lender sees each of them as a [SlabPeer][io.bulla.interop.posix.lending.SlabPeer] with a
///   [SlabQuota][io.bulla.interop.posix.lending.SlabQuota]; its
///   [SlabLenderFigures][io.bulla.interop.posix.lending.SlabLenderFigures] say what is lent.
@NullMarked
package io.bulla.interop.posix.lending;

import org.jspecify.annotations.NullMarked;
