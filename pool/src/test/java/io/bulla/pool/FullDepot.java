// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

/// As if there were no heap for a chain.
final class FullDepot extends Depot {

    @Override
    Chain chain() {
        throw new OutOfMemoryError("by the test");
    }
}
