// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What one peer has of a fabric: a domain of libfabric's with addresses, a queue of completions and an endpoint. A
/// key is good at every endpoint of a domain, and at no other: so one peer's key is good at its own endpoint only.
/// Under the monitor of its [FabricDomain].
final class PeerDomain {

    private static final long TRANSMIT_AND_RECEIVE = 0x800 | 0x400;
    private static final int CQ_FORMAT_DATA = 3;
    private static final int AV_TABLE = 2;

    private final FabricInfo info;
    // the domain, then what its endpoint needs
    private final List<Long> opened = new ArrayList<>(3);
    private final long domain;
    private long addresses;
    private long queue;
    private @Nullable FabricEndpoint endpoint;
    private int marks;

    /// @param fabric that is open
    /// @param out room for an object
    PeerDomain(FabricInfo info, long fabric, MemorySegment out) throws FabricException {
        this.info = info;
        FabricCalls.open("fi_domain", fabric, 56, 8, info.address(), out);
        domain = kept(out);
    }

    long queue() {
        return queue;
    }

    @Nullable
    FabricEndpoint endpoint() {
        return endpoint;
    }

    /// @return open, and this one's from now on
    FabricEndpoint open(FabricDomain of, MemorySegment out) throws FabricException {
        long address = 0;
        boolean enabled = false;
        try (Arena own = Arena.ofConfined()) {
            MemorySegment table = own.allocate(48, 8);
            table.set(JAVA_INT, 0, AV_TABLE);
            FabricCalls.open("fi_av_open", domain, 8, table, out);
            addresses = kept(out);
            MemorySegment format = own.allocate(40, 8);
            format.set(JAVA_INT, 16, CQ_FORMAT_DATA);
            FabricCalls.open("fi_cq_open", domain, 16, format, out);
            queue = kept(out);
            FabricCalls.open("fi_endpoint", domain, 96, 24, info.address(), out);
            address = out.get(JAVA_LONG, 0);
            FabricCalls.bind(address, queue, TRANSMIT_AND_RECEIVE);
            FabricCalls.bind(address, addresses, 0);
            FabricCalls.enable(address);
            FabricEndpoint fresh = new FabricEndpoint(of, this, address, FabricCalls.nameOf(address));
            endpoint = fresh;
            enabled = true;
            return fresh;
        } finally {
            if (!enabled) {
                if (address != 0) {
                    closeObject("fi_close(endpoint)", address);
                }
                closeBehindEndpoint();
            }
        }
    }

    /// @throws IllegalStateException if the fabric refuses; nothing has changed then
    void closeEndpoint(FabricEndpoint old) {
        closeObject("fi_close(endpoint)", old.address);
        endpoint = null;
        closeBehindEndpoint();
    }

    /// What is refused now is closed with the domain.
    private void closeBehindEndpoint() {
        try {
            closeDownTo(1);
        } catch (IllegalStateException later) {
            // no endpoint is bound to it: no peer reaches anything by it
        }
    }

    long insert(byte... name) throws FabricException {
        return FabricCalls.insert(addresses, name);
    }

    /// @return the mark's object
    long register(long address, long length, long access, long key, MemorySegment out) throws FabricException {
        FabricCalls.register(domain, address, length, access, key, out);
        marks++;
        return out.get(JAVA_LONG, 0);
    }

    /// @throws IllegalStateException if the fabric refuses; nothing has changed then
    void unregister(long object) {
        closeObject("fi_close(mr)", object);
        marks--;
    }

    boolean isUnused() {
        return endpoint == null && marks == 0;
    }

    /// Closes what is left, the last first; again after a refusal.
    ///
    /// @throws IllegalStateException if the fabric refuses
    void close() {
        closeDownTo(0);
    }

    private void closeDownTo(int left) {
        while (opened.size() > left) {
            closeObject("fi_close", opened.getLast());
            opened.removeLast();
        }
    }

    private long kept(MemorySegment out) {
        long object = out.get(JAVA_LONG, 0);
        opened.add(object);
        return object;
    }

    static void closeObject(String call, long object) {
        try {
            int result = FabricCalls.close(object);
            if (result != 0) {
                throw new IllegalStateException(call + ": error=" + -result + " " + Libfabric.meaning(-result));
            }
        } catch (FabricException refused) {
            throw new IllegalStateException(refused);
        }
    }
}
