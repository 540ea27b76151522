// SPDX-License-Identifier: Apache-2.0
/// Buffers that are lent to other processes of this host: 32 bytes each, whatever the size.
///
/// - [SharedSlabSource][io.bulla.posix.lending.SharedSlabSource] has its slabs in memory files that other
///   processes can map, read-only, and only this one writes.
/// - [SlabLender][io.bulla.posix.lending.SlabLender] lends its buffers to processes that have a
///   [SlabBorrower][io.bulla.posix.lending.SlabBorrower].
/// - The lender sees each of them as a [SlabPeer][io.bulla.posix.lending.SlabPeer] with a
///   [SlabQuota][io.bulla.posix.lending.SlabQuota]; its
///   [SlabLenderFigures][io.bulla.posix.lending.SlabLenderFigures] say what is lent.
@NullMarked
package io.bulla.posix.lending;

import org.jspecify.annotations.NullMarked;
