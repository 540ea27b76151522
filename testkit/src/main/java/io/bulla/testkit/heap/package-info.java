// SPDX-License-Identifier: Apache-2.0
/// Bounds on the heap that work takes: [HeapCost][io.bulla.testkit.heap.HeapCost] measures compiled code.
@NullMarked
package io.bulla.testkit.heap;

import org.jspecify.annotations.NullMarked;
