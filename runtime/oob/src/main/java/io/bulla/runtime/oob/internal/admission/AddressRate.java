// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.admission;

import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// Limits how often each address comes: a bucket that holds a second's worth and is filled evenly. One thread's.
///
/// It remembers so many addresses and forgets those that came longest ago, so its memory has a bound; a peer with
/// more addresses than that is stopped by the limits on all connections.
public final class AddressRate {

    public static final int ADDRESSES = 4096;

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int IPV6_NETWORK_BYTES = 8;

    private final int perSecond;
    private final Map<ByteBuffer, Bucket> buckets = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, Bucket> eldest) {
            return size() > ADDRESSES;
        }
    };

    public AddressRate(int perSecond) {
        this.perSecond = perSecond;
    }

    /// @param now in nanoseconds
    /// @return whether one more may come; then it is counted
    public boolean admits(SocketAddress remote, long now) {
        return buckets.computeIfAbsent(key(remote), unknown -> new Bucket(now)).take(now);
    }

    public int known() {
        return buckets.size();
    }

    /// The part of an address that counts as one.
    static ByteBuffer key(SocketAddress remote) {
        if (remote instanceof InetSocketAddress internet && internet.getAddress() != null) {
            byte[] address = internet.getAddress().getAddress();
            return ByteBuffer.wrap(
                    internet.getAddress() instanceof Inet6Address
                            ? Arrays.copyOf(address, IPV6_NETWORK_BYTES)
                            : address);
        }
        return ByteBuffer.allocate(0);
    }

    private final class Bucket {

        // in nanoseconds of time that has passed: one connection costs a second divided by the rate
        private long filled = SECOND;
        private long last;

        Bucket(long now) {
            last = now;
        }

        boolean take(long now) {
            filled = Math.min(SECOND, filled + (now - last));
            last = now;
            long cost = SECOND / perSecond;
            if (filled < cost) {
                return false;
            }
            filled -= cost;
            return true;
        }
    }
}
