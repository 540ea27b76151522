// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.refcount.internal.Failures;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The subscriptions of one channel, all on its event loop. Those that their owners have ended are forgotten when as
/// many more have come: a client that changes its topics for days keeps no more than twice what it has.
final class Outlets {

    private static final int FEW = 8;

    private final List<Outlet> all = new ArrayList<>(1);
    private int crowded = FEW;

    /// @param outlet that has its subscription
    void add(Outlet outlet) {
        if (all.size() >= crowded) {
            all.removeIf(Outlet::hasEnded);
            crowded = Math.max(FEW, 2 * all.size());
        }
        all.add(outlet);
        // what came between the subscription and this
        outlet.proceed();
    }

    /// The channel may take more.
    void proceed() {
        // some may leave meanwhile
        tell(List.copyOf(all), Outlet::proceed);
    }

    /// The channel is over.
    void leave() {
        List<Outlet> left = List.copyOf(all);
        all.clear();
        tell(left, Outlet::leave);
    }

    /// Each of them, whatever another one throws.
    private static void tell(List<Outlet> outlets, Consumer<Outlet> what) {
        @Nullable Throwable failure = null;
        for (Outlet each : outlets) {
            try {
                what.accept(each);
            } catch (Throwable thrown) {
                failure = Failures.join(failure, thrown);
            }
        }
        Failures.rethrow(failure);
    }
}
