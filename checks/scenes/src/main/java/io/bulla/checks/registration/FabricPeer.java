// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.registration;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.fabric.FabricDomain;
import io.bulla.fabric.FabricEndpoint;
import io.bulla.fabric.FabricException;
import io.bulla.fabric.FabricWrite;
import io.bulla.pool.device.Peer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/// A process that writes into another one's memory. Arguments: what it does, provider, the other one's name in
/// hexadecimal, key, target, bytes.
///
/// - `once`: waits for a line of its input, and writes `d` until it is killed or all is there.
/// - `counting`: writes numbers, one after the other, until its input ends; says how many were written, and how many
///   failed.
/// - `late`: writes `a`, says so, waits for a line of its input, writes `b` by the same key, and says how that ended.
public final class FabricPeer {

    /// Until a write by an old key counts as not answered.
    static final Duration NO_ANSWER = Duration.ofSeconds(2);

    private static final Duration LONGEST = Duration.ofMinutes(5);

    private static final long REST_NANOS = 1_000_000;

    private final FabricEndpoint endpoint;
    private final long reader;
    private final long key;
    private final long target;
    private final MemorySegment bytes;

    private FabricPeer(String... args) throws FabricException {
        endpoint = FabricDomain.open(args[1]).endpoint(new Peer(0, "reader"));
        reader = endpoint.connect(HexFormat.of().parseHex(args[2]));
        key = Long.parseLong(args[3]);
        target = Long.parseLong(args[4]);
        bytes = Arena.global().allocate(Long.parseLong(args[5]), 64);
    }

    /// Ends when what it does ends, or after five minutes without an answer.
    ///
    /// @param args see above
    /// @throws Exception if the fabric refuses
    public static void main(String... args) throws Exception {
        FabricPeer peer = new FabricPeer(args);
        switch (args[0]) {
            case "once" -> peer.writeOnce();
            case "counting" -> peer.count();
            case "late" -> peer.writeLate();
            default -> throw new IllegalArgumentException("unknown: what=" + args[0]);
        }
        // a provider's own threads are not waited for
        System.exit(0);
    }

    private FabricWrite write(char value) throws FabricException {
        bytes.fill((byte) value);
        return endpoint.write(reader, key, target, bytes);
    }

    private void writeOnce() throws Exception {
        if (System.in.read() >= 0) {
            write('d').await(LONGEST);
        }
    }

    private void count() throws IOException {
        long written = 0;
        long failed = 0;
        while (System.in.available() == 0) {
            bytes.set(JAVA_LONG, 0, written + 1);
            try {
                endpoint.write(reader, key, target, bytes).await(LONGEST);
                written++;
            } catch (FabricException | TimeoutException refused) {
                failed++;
            }
            LockSupport.parkNanos(REST_NANOS);
        }
        System.out.println("written=" + written + " failed=" + failed);
    }

    private void writeLate() throws Exception {
        write('a').await(LONGEST);
        System.out.println("written");
        if (System.in.read() < 0) {
            return;
        }
        try {
            write('b').await(NO_ANSWER);
            System.out.println("success");
        } catch (FabricException refused) {
            System.out.println("error");
        } catch (TimeoutException none) {
            System.out.println("none");
        }
    }
}
