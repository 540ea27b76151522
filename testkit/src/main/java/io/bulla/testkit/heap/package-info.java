// SPDX-License-Identifier: Apache-2.0
/// Bounds on the heap that work takes: [HeapCost][io.bulla.testkit.heap.HeapCost] measures compiled code. And work
/// that gets none: [FullHeapRun][io.bulla.testkit.heap.FullHeapRun].
@NullMarked
package io.bulla.testkit.heap;

import org.jspecify.annotations.NullMarked;
