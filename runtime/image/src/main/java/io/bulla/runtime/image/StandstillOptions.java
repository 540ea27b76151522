// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import io.bulla.runtime.oob.OobNode;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Function;

/// What a [Standstill] does besides suspending nodes.
///
/// @param retiring called in order when the nodes are suspended
/// @param bind where a node listens when it goes on
/// @param publish told each node and where it listens, when it goes on
/// @param patience for all steps until the process stands still, and again for all until it goes on
public record StandstillOptions(
        List<Retiring> retiring,
        Function<OobNode, InetSocketAddress> bind,
        BiConsumer<OobNode, InetSocketAddress> publish,
        Duration patience) {

    /// Each node at the address that it had, published nowhere; ten seconds.
    public static final StandstillOptions DEFAULT =
            new StandstillOptions(List.of(), OobNode::address, (node, address) -> {}, Duration.ofSeconds(10));

    /// Something that a device knows, and is to forget.
    @FunctionalInterface
    public interface Retiring {

        /// Waits until the device has let go.
        ///
        /// @param patience how long to wait
        /// @throws Exception if it has not
        void retire(Duration patience) throws Exception;
    }

    /// Checks the options.
    ///
    /// @throws IllegalArgumentException if the patience is not positive
    public StandstillOptions {
        retiring = List.copyOf(retiring);
        Objects.requireNonNull(bind, "bind");
        Objects.requireNonNull(publish, "publish");
        if (!patience.isPositive()) {
            throw new IllegalArgumentException("patience is not positive: " + patience);
        }
    }

    /// The same, and marks that are retired: `retire(registrations::quiesce)`. The next use of the memory
    /// makes new ones.
    ///
    /// @param marks called after those that are there
    /// @return other options
    public StandstillOptions retire(Retiring marks) {
        List<Retiring> all = new ArrayList<>(retiring);
        all.add(Objects.requireNonNull(marks, "marks"));
        return new StandstillOptions(all, bind, publish, patience);
    }

    /// The same, with other addresses, such as a free port of the machine that the process is on then.
    ///
    /// @param where asked for each node when it goes on
    /// @return other options
    public StandstillOptions bind(Function<OobNode, InetSocketAddress> where) {
        return new StandstillOptions(retiring, where, publish, patience);
    }

    /// The same, with someone who tells the peers' directories.
    ///
    /// @param told each node and its bound address, once it goes on; it connects by itself meanwhile
    /// @return other options
    public StandstillOptions publish(BiConsumer<OobNode, InetSocketAddress> told) {
        return new StandstillOptions(retiring, bind, told, patience);
    }

    /// The same, with other patience.
    ///
    /// @param time more than none
    /// @return other options
    /// @throws IllegalArgumentException if it is not
    public StandstillOptions patience(Duration time) {
        return new StandstillOptions(retiring, bind, publish, time);
    }
}
