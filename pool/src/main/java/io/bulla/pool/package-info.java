// SPDX-License-Identifier: Apache-2.0
/// Memory that is used again, for programs that choose it.
///
/// - [SlabSource][io.bulla.pool.SlabSource] is a [MemorySource][io.bulla.buffer.MemorySource] that hands the same
///   memory out again: slabs of 2 MiB, size classes, a magazine per platform thread, a hard limit, and a trim that
///   gives idle slabs back to the system.
/// - [Slab][io.bulla.pool.Slab] is what a device may know of: its regions keep it, and so does each device.
/// - [SlabSupplier][io.bulla.pool.SlabSupplier] is where the slabs come from: arenas of the JDK's, or another.
///
/// A reader never sees another buffer's bytes: a region that comes back ends its stamp, and each read through
/// Bulla's types looks at the stamp when it is over. Memory of which a raw view was given out is not used again.
@NullMarked
package io.bulla.pool;

import org.jspecify.annotations.NullMarked;
