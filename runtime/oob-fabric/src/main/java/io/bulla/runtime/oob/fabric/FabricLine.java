// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fabric.FabricEndpoint;
import io.bulla.fabric.FabricException;
import io.bulla.fabric.FabricWrite;
import io.bulla.iovec.IoVec;
import io.bulla.pool.device.Peer;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One endpoint, for one connection to one peer.
///
/// ```
/// address:  0 length of the provider's name | 1 the name | the endpoint's name, in the fabric's own format
/// ```
///
/// On the event loop, but for [#fails].
final class FabricLine implements BulkLine {

    private static final String BY_NAME = "shm";

    private final FabricBulk bulk;
    private final Peer peer;
    private final Consumer<? super IOException> failed;
    private final FabricEndpoint endpoint;
    private @Nullable Long to;
    private final Set<GrantedLanding> landings = new HashSet<>();
    // volatile: read by the thread of the fabric, which tells no closed line that it failed; a race tells it once more
    private volatile boolean over;

    private FabricLine(FabricBulk bulk, Peer peer, Consumer<? super IOException> failed) throws FabricException {
        this.bulk = bulk;
        this.peer = peer;
        this.failed = failed;
        this.endpoint = bulk.domain().endpoint(peer);
    }

    static FabricLine open(FabricBulk bulk, Peer peer, Consumer<? super IOException> failed) throws IOException {
        FabricLine line = new FabricLine(bulk, peer, failed);
        boolean opened = false;
        try {
            line.checkAddress();
            bulk.progress().add(line);
            opened = true;
            return line;
        } finally {
            if (!opened) {
                line.endpoint.close();
            }
        }
    }

    private void checkAddress() throws IOException {
        int bytes = address().length;
        if (bytes > MOST_ADDRESS) {
            throw new IOException("endpoint's name is too long for a hello: bytes=" + bytes + " most=" + MOST_ADDRESS);
        }
    }

    @Override
    public byte[] address() {
        byte[] provider = provider();
        byte[] name = endpoint.name();
        byte[] all = new byte[1 + provider.length + name.length];
        all[0] = (byte) provider.length;
        System.arraycopy(provider, 0, all, 1, provider.length);
        System.arraycopy(name, 0, all, 1 + provider.length, name.length);
        return all;
    }

    private byte[] provider() {
        return bulk.domain().provider().name().getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void connect(byte[] peersAddress) throws IOException {
        byte[] name = checkedName(peersAddress);
        to = endpoint.connect(name);
    }

    /// libfabric reads as many bytes as the format of an address has, and not as many as there are.
    private byte[] checkedName(byte... address) throws IOException {
        byte[] provider = provider();
        byte[] mine = endpoint.name();
        int head = 1 + provider.length;
        boolean same = address.length > head
                && address[0] == provider.length
                && Arrays.equals(address, 1, head, provider, 0, provider.length);
        if (!same) {
            throw new IOException("address of another provider: mine="
                    + bulk.domain().provider().name() + " bytes=" + address.length);
        }
        byte[] name = Arrays.copyOfRange(address, head, address.length);
        boolean wellFormed = bulk.domain().provider().name().equals(BY_NAME)
                ? name[name.length - 1] == 0
                // the family of a socket's address
                : name.length == mine.length && name[0] == mine[0] && name[1] == mine[1];
        if (!wellFormed) {
            throw new IOException("not an address: provider="
                    + bulk.domain().provider().name() + " bytes=" + name.length + " mine=" + mine.length);
        }
        return name;
    }

    @Override
    public boolean takes(SealedBuffer buffer) {
        IoVec bytes = buffer.iovec().lent();
        for (int i = 0; i < bytes.regionCount(); i++) {
            if (!bytes.region(i).isNative()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public BulkLanding land(long byteSize) throws IOException {
        try {
            GrantedLanding granted = GrantedLanding.take(
                    bulk.registrations(),
                    bulk.memory(),
                    peer,
                    byteSize,
                    bulk.domain().provider().byAddress(),
                    this::ended);
            keep(granted);
            bulk.progress().landingBegins();
            return granted;
        } catch (MemoryLimitException noMemory) {
            throw new IOException("no memory for a landing: bytes=" + byteSize, noMemory);
        } catch (IllegalStateException closed) {
            // of the memory's source, or of the registrations
            throw new IOException("no landing: bytes=" + byteSize + " reason=" + closed.getMessage(), closed);
        }
    }

    private void keep(GrantedLanding granted) {
        boolean kept = false;
        try {
            landings.add(granted);
            kept = true;
        } finally {
            if (!kept) {
                granted.giveBack();
            }
        }
    }

    @Override
    public CompletionStage<Void> write(SealedBuffer buffer, long key, long target) throws IOException {
        Long where = to;
        if (where == null || over) {
            throw new IOException("line is not connected: " + this);
        }
        CompletableFuture<Void> result = new CompletableFuture<>();
        long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(bulk.patience());
        FabricWrite write = endpoint.write(where, key, target, buffer);
        bulk.progress().begins(write, buffer.byteSize(), deadline, result);
        return result;
    }

    /// The fabric does not work any more. Any thread; told once.
    void fails(IOException why) {
        if (!over) {
            over = true;
            failed.accept(why);
        }
    }

    /// No new access first; then the endpoint, which is the fence; then the memory.
    @Override
    public void close() {
        over = true;
        bulk.progress().remove(this);
        try {
            bulk.registrations().revoke(peer, Duration.ZERO);
        } finally {
            try {
                endpoint.close();
            } finally {
                closeLandings();
            }
        }
    }

    /// Each, whatever the memory of another throws.
    private void closeLandings() {
        Throwable first = null;
        for (GrantedLanding landing : List.copyOf(landings)) {
            landings.remove(landing);
            try {
                landing.close();
            } catch (RuntimeException | Error failure) {
                if (first == null) {
                    first = failure;
                } else if (first != failure) {
                    first.addSuppressed(failure);
                }
            }
        }
        switch (first) {
            case null -> {}
            case RuntimeException failure -> throw failure;
            case Error failure -> throw failure;
            default -> throw new AssertionError(first);
        }
    }

    private void ended(GrantedLanding landing, long bytes) {
        landings.remove(landing);
        bulk.progress().landingEnds(bytes);
    }

    @Override
    public String toString() {
        return "FabricLine[" + bulk.domain().provider().name() + " peer=" + peer + (over ? " over" : "") + "]";
    }
}
