// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.fabric.LinkMessage.Kind;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.runtime.registration.Grant;
import io.bulla.runtime.registration.Landing;
import io.bulla.runtime.registration.Revocation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The buffers on their way here over one [FabricLink], under its monitor. They reach the listener in the order of
/// their requests.
final class LinkArrivals {

    /// To the peer.
    @FunctionalInterface
    interface Way {
        void say(LinkMessage message) throws FabricException;
    }

    /// A buffer on its way here; sealed when it is whole.
    private static final class Arriving {

        private final Landing landing;
        private final Grant grant;
        private final long byteSize;
        private final long deadline;
        private @Nullable SealedBuffer whole;

        Arriving(Landing landing, Grant grant, long byteSize, long deadline) {
            this.landing = landing;
            this.grant = grant;
            this.byteSize = byteSize;
            this.deadline = deadline;
        }

        void letGo() {
            SealedBuffer sealed = whole;
            try (landing;
                    sealed) {
                // both end, whatever the first one throws
            }
        }
    }

    private final FabricDomain domain;
    private final FabricEndpoint endpoint;
    private final LongFunction<Landing> landings;
    private final Peer peer;
    private final LinkLimits limits;
    private final Way way;
    private final Consumer<SealedBuffer> listener;
    private final Map<Long, Arriving> arriving = new LinkedHashMap<>();
    private long lastRequest;
    private boolean over;

    LinkArrivals(
            FabricDomain domain,
            FabricEndpoint endpoint,
            LongFunction<Landing> landings,
            Peer peer,
            LinkLimits limits,
            Way way,
            Consumer<SealedBuffer> listener) {
        this.domain = domain;
        this.endpoint = endpoint;
        this.landings = landings;
        this.peer = peer;
        this.limits = limits;
        this.way = way;
        this.listener = listener;
    }

    int size() {
        return arriving.size();
    }

    void requested(LinkMessage asked) throws FabricException {
        if (asked.id() <= lastRequest || asked.first() < 0) {
            throw LinkMessage.wrong("request out of order", peer, asked);
        }
        lastRequest = asked.id();
        boolean fits = asked.first() <= limits.mostBytes() && arriving.size() < limits.mostAtOnce();
        Arriving room = fits ? roomFor(asked.first()) : null;
        if (room == null) {
            way.say(new LinkMessage(Kind.REFUSED, asked.id(), asked.first(), 0));
            return;
        }
        arriving.put(asked.id(), room);
        domain.expect(room.grant.key(), endpoint);
        long target = domain.provider().byAddress() ? room.grant.address() : 0;
        way.say(new LinkMessage(Kind.CLEAR, asked.id(), room.grant.key(), target));
    }

    /// @return `null` if there is none: no memory, or no room at the device
    private @Nullable Arriving roomFor(long byteSize) {
        Landing landing = null;
        boolean whole = false;
        try {
            // an empty buffer, too, has a grant
            landing = landings.apply(Math.max(1, byteSize));
            Arriving room = new Arriving(
                    landing,
                    landing.grant(peer),
                    byteSize,
                    System.nanoTime() + TimeUnit.NANOSECONDS.convert(limits.patience()));
            whole = true;
            return room;
        } catch (RegistrationRefusedException | MemoryLimitException | OutOfMemoryError none) {
            return null;
        } finally {
            if (!whole && landing != null) {
                landing.close();
            }
        }
    }

    void takeLanded() throws FabricException {
        for (Long key = next(); key != null; key = next()) {
            for (Arriving each : List.copyOf(arriving.values())) {
                if (each.grant.key() == key && each.whole == null) {
                    finish(each, key);
                }
            }
        }
    }

    private @Nullable Long next() {
        return over ? null : domain.nextLanded(endpoint);
    }

    void finished(LinkMessage said) throws FabricException {
        Arriving room = said.known(arriving.get(said.id()), peer);
        if (room.whole != null) {
            throw LinkMessage.wrong("finished twice", peer, said);
        }
        domain.expectNoMore(room.grant.key());
        finish(room, said);
    }

    private void finish(Arriving room, Object said) throws FabricException {
        if (!(room.grant.complete(limits.patience()) instanceof Revocation.Clean)) {
            throw LinkMessage.wrong("fabric has not let go of what is finished", peer, said);
        }
        room.whole = room.landing.seal(room.byteSize);
        deliver();
    }

    /// The first that are whole, in the order of their requests. Those behind one with which the listener throws wait
    /// for nothing.
    private void deliver() {
        try {
            deliverFirst();
        } catch (Throwable thrown) {
            try {
                deliver();
            } catch (Throwable again) {
                if (again != thrown) {
                    thrown.addSuppressed(again);
                }
            }
            throw thrown;
        }
    }

    private void deliverFirst() {
        while (!arriving.isEmpty()) {
            Map.Entry<Long, Arriving> first = arriving.entrySet().iterator().next();
            SealedBuffer whole = first.getValue().whole;
            if (whole == null) {
                return;
            }
            arriving.remove(first.getKey());
            listener.accept(whole);
        }
    }

    boolean isLate() {
        long now = System.nanoTime();
        return arriving.values().stream().anyMatch(each -> each.whole == null && now - each.deadline > 0);
    }

    /// None arrives any more.
    void letGo(Thrown thrown) {
        over = true;
        List<Arriving> left = List.copyOf(arriving.values());
        arriving.clear();
        left.forEach(each -> thrown.after(each::letGo));
    }
}
