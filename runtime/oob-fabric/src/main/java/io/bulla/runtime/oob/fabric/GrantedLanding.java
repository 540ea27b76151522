// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.registration.Grant;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import io.bulla.registration.Revocation.Quarantined;
import io.bulla.runtime.oob.bulk.BulkLanding;
import java.io.IOException;
import java.time.Duration;
import java.util.function.ObjLongConsumer;

/// A landing with one grant. On the event loop.
final class GrantedLanding implements BulkLanding {

    private final RemoteWriteTarget landing;
    private final Grant grant;
    private final long byteSize;
    private final boolean byAddress;
    private final ObjLongConsumer<GrantedLanding> ended;
    private boolean over;

    private GrantedLanding(
            RemoteWriteTarget landing,
            Grant grant,
            long byteSize,
            boolean byAddress,
            ObjLongConsumer<GrantedLanding> ended) {
        this.landing = landing;
        this.grant = grant;
        this.byteSize = byteSize;
        this.byAddress = byAddress;
        this.ended = ended;
    }

    /// @param byAddress whether the peer writes to an address, and not to an offset
    /// @param ended told once: the bytes that have arrived, or -1
    /// @throws IOException if the device refuses
    static GrantedLanding take(
            Registrations registrations,
            SlabSource memory,
            Peer peer,
            long byteSize,
            boolean byAddress,
            ObjLongConsumer<GrantedLanding> ended)
            throws IOException {
        // no bytes have a grant, too
        RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, Math.max(1, byteSize));
        boolean granted = false;
        try {
            GrantedLanding taken = new GrantedLanding(landing, landing.grant(peer), byteSize, byAddress, ended);
            granted = true;
            return taken;
        } catch (RegistrationRefusedException refused) {
            throw new IOException("no grant: " + refused.getMessage(), refused);
        } finally {
            if (!granted) {
                landing.close();
            }
        }
    }

    @Override
    public long key() {
        return grant.key();
    }

    @Override
    public long target() {
        return byAddress ? grant.address() : 0;
    }

    @Override
    public SealedBuffer seal() throws IOException {
        boolean sealed = false;
        try {
            Revocation left = grant.complete(Duration.ZERO);
            if (left instanceof Quarantined quarantined) {
                throw new IOException("device has not let go: " + quarantined.why() + " " + grant);
            }
            SealedBuffer whole = landing.seal(byteSize);
            sealed = true;
            return whole;
        } finally {
            end(sealed ? byteSize : -1);
        }
    }

    /// The peer writes no more, or is no longer able to.
    @Override
    public void close() {
        try {
            grant.complete(Duration.ZERO);
        } finally {
            end(-1);
        }
    }

    /// As [#close], but its end is not told: its begin was not.
    void giveBack() {
        over = true;
        try {
            grant.complete(Duration.ZERO);
        } finally {
            landing.close();
        }
    }

    private void end(long bytes) {
        if (!over) {
            over = true;
            try {
                landing.close();
            } finally {
                ended.accept(this, bytes);
            }
        }
    }
}
