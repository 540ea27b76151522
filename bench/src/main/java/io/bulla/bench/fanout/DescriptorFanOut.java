// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.Mappings;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.posix.memfd.SealedFileHandoff;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Fan-out within one host by a descriptor of sealed memory: the bytes do not travel.
///
/// `seal` ends when every peer has the bytes mapped; `seal-touched` when it has also read a byte of each page,
/// which is when a mapping is paid for. `memfd-per-send` and `memfd-per-send-touched` give each peer a memory
/// file of its own, with a copy in it. All receivers are in this process, so a fan-out ends when all that they
/// mapped is gone again: each mapping is ended by one thread of the process, which would be one thread in each of
/// the processes.
final class DescriptorFanOut implements FanOut {

    private static final int PAGE = 4096;

    private final Message message;
    private final MemfdSource source = MemfdSource.create();
    private final SealedBuffer sealed;
    private final SealedFileHandoff seal;
    private final PosixSocket[] senders;
    private final PosixSocket[] receivers;
    private final Arrivals arrivals;
    private final boolean copied;
    private final boolean touched;
    private boolean compared;
    private long pages;

    DescriptorFanOut(String design, Message message, int peers) throws IOException {
        this.message = message;
        this.sealed = message.seal(source);
        this.seal = SealedFileHandoff.share(sealed, 0, source);
        this.senders = new PosixSocket[peers];
        this.receivers = new PosixSocket[peers];
        this.arrivals = new Arrivals(message, peers);
        this.copied = design.startsWith("memfd-per-send");
        this.touched = design.endsWith("-touched");
        for (int i = 0; i < peers; i++) {
            PosixSocket[] pair = PosixSocket.unixPair();
            senders[i] = pair[0];
            receivers[i] = pair[1];
        }
    }

    @Override
    public void run(int times) throws IOException {
        for (int i = 0; i < times; i++) {
            for (PosixSocket sender : senders) {
                send(sender);
            }
            for (int peer = 0; peer < receivers.length; peer++) {
                receive(peer);
            }
            Mappings.awaitEnd();
        }
    }

    private void send(PosixSocket sender) throws IOException {
        if (!copied) {
            seal.sendTo(sender);
            return;
        }
        try (SealedFileHandoff own = SealedFileHandoff.move(sealed.copy((MemorySource) source), 0, source)) {
            own.sendTo(sender);
        }
    }

    private void receive(int peer) throws IOException {
        try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(receivers[peer], message.size());
                SealedBuffer buffer = received.share()) {
            if (touched) {
                touch(buffer.iovec().region(0));
            }
            if (compared) {
                arrivals.took(peer, buffer.iovec().region(0).asByteBuffer());
            }
        }
    }

    private void touch(MemorySegment bytes) {
        long sum = 0;
        for (long at = 0; at < bytes.byteSize(); at += PAGE) {
            sum += bytes.get(JAVA_BYTE, at);
        }
        pages += sum;
    }

    @Override
    public void compare(boolean yes) {
        compared = yes;
        arrivals.compare(yes);
    }

    @Override
    public void close() {
        for (int i = 0; i < senders.length; i++) {
            senders[i].close();
            receivers[i].close();
        }
        seal.close();
        sealed.close();
        if (pages == Long.MIN_VALUE) {
            throw new IllegalStateException("no run has so many pages: pages=" + pages);
        }
    }
}
