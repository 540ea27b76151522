// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fabric.LinkMessage.Kind;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.registration.Grant;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The buffers on their way here over one [FabricLink], under its monitor. They reach the listener in the order of
/// their requests.
final class LinkArrivals {

    /// A buffer on its way here; sealed when it is whole.
    private static final class Arriving {

        private final RemoteWriteTarget landing;
        private final Grant grant;
        private final long byteSize;
        private final long deadline;
        private @Nullable SealedBuffer whole;

        Arriving(RemoteWriteTarget landing, Grant grant, long byteSize, long deadline) {
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

    private final FabricLink link;
    private final Map<Long, Arriving> arriving = new LinkedHashMap<>();
    private long lastRequest;

    LinkArrivals(FabricLink link) {
        this.link = link;
    }

    int size() {
        return arriving.size();
    }

    void requested(LinkMessage asked) throws FabricException {
        if (asked.id() <= lastRequest || asked.first() < 0) {
            throw link.wrong("request out of order", asked);
        }
        lastRequest = asked.id();
        boolean fits = asked.first() <= link.limits.mostBytes() && arriving.size() < link.limits.mostAtOnce();
        Arriving room = null;
        try {
            room = fits ? roomFor(asked.first()) : null;
        } finally {
            // also if a listener of the memory throws: the peer waits for an answer
            if (room == null && link.failure() == null) {
                link.say(new LinkMessage(Kind.REFUSED, asked.id(), asked.first(), 0));
            }
        }
        if (room == null) {
            return;
        }
        if (link.failure() != null) {
            // called back by a listener of the memory
            room.letGo();
            return;
        }
        arriving.put(asked.id(), room);
        link.domain.expect(room.grant.key(), link.endpoint);
        long target = link.domain.provider().byAddress() ? room.grant.address() : 0;
        link.say(new LinkMessage(Kind.CLEAR, asked.id(), room.grant.key(), target));
    }

    /// @return `null` if there is none: no memory, or no room at the device
    private @Nullable Arriving roomFor(long byteSize) {
        RemoteWriteTarget landing = null;
        boolean whole = false;
        try {
            // an empty buffer, too, has a grant
            landing = link.registrations.remoteWriteTarget(link.memory, Math.max(1, byteSize));
            Arriving room = new Arriving(
                    landing,
                    landing.grant(link.peer),
                    byteSize,
                    System.nanoTime() + TimeUnit.NANOSECONDS.convert(link.limits.patience()));
            whole = true;
            return room;
        } catch (RegistrationRefusedException | MemoryLimitException | OutOfMemoryError none) {
            return null;
        } catch (IllegalStateException over) {
            if (link.failure() == null) {
                throw over;
            }
            // a listener of the memory has ended the link meanwhile
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
        return link.failure() == null ? link.domain.nextLanded(link.endpoint) : null;
    }

    void finished(LinkMessage said) throws FabricException {
        Arriving room = link.known(arriving.get(said.id()), said);
        if (room.whole != null) {
            throw link.wrong("finished twice", said);
        }
        link.domain.expectNoMore(room.grant.key());
        finish(room, said);
    }

    private void finish(Arriving room, Object said) throws FabricException {
        if (!(room.grant.complete(link.limits.patience()) instanceof Revocation.Clean)) {
            throw link.wrong("fabric has not let go of what is finished", said);
        }
        boolean sealed = false;
        try {
            room.whole = room.landing.seal(room.byteSize);
            sealed = true;
        } finally {
            if (!sealed) {
                // its sender may have been told that it is there, and those behind it would wait for it
                link.fail("buffer was not sealed: " + said);
            }
        }
        if (link.failure() != null) {
            // called back by a listener of the memory
            room.letGo();
            return;
        }
        deliver();
    }

    /// The first that are whole, in the order of their requests. Those behind one with which the listener throws wait
    /// for nothing.
    private void deliver() {
        Thrown thrown = new Thrown();
        while (!arriving.isEmpty()) {
            Map.Entry<Long, Arriving> first = arriving.entrySet().iterator().next();
            SealedBuffer whole = first.getValue().whole;
            if (whole == null) {
                break;
            }
            arriving.remove(first.getKey());
            thrown.after(() -> link.listener.onBufferMoved(whole));
        }
        thrown.rethrow();
    }

    boolean isLate() {
        long now = System.nanoTime();
        return arriving.values().stream().anyMatch(each -> each.whole == null && now - each.deadline > 0);
    }

    /// None arrives any more.
    void letGo(Thrown thrown) {
        List<Arriving> left = List.copyOf(arriving.values());
        arriving.clear();
        left.forEach(each -> thrown.after(each::letGo));
    }
}
