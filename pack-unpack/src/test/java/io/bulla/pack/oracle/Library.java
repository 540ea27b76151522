// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import java.util.List;

/// One side of a comparison.
interface Library {

    /// The bytes of all items, one after the other.
    byte[] pack(List<Item> items);

    /// The values of all items; `shape` says the type and count of each. They last until the next call.
    List<List<Object>> unpack(byte[] bytes, List<Item> shape);
}
