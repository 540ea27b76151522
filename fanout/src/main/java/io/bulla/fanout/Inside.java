// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import java.util.ArrayList;
import java.util.List;

/// The orders for whose subscribers a thread sends at the moment, outermost first.
final class Inside {

    private static final ThreadLocal<Inside> MINE = ThreadLocal.withInitial(Inside::new);

    private final List<Object> orders = new ArrayList<>(2);

    private Inside() {}

    static Inside mine() {
        return MINE.get();
    }

    boolean isEmpty() {
        return orders.isEmpty();
    }

    void enter(Object order) {
        orders.add(order);
    }

    /// Of the last one entered.
    void exit() {
        orders.removeLast();
    }

    boolean isIn(Object order) {
        for (Object one : orders) {
            if (one == order) {
                return true;
            }
        }
        return false;
    }
}
