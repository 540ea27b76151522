// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.pool.SlabSource;
import io.bulla.pool.SlabSupplier;
import io.bulla.posix.fixtures.Attack;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.calls.SharedMappings;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.posix.internal.calls.Unmapper;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.posix.memfd.HugePages;
import io.bulla.posix.memfd.MappingProtection;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.posix.memfd.SealedFileHandoff;
import io.bulla.posix.socket.Outbox;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.posix.socket.SendPath;
import io.bulla.posix.socket.SocketSend;
import io.bulla.posix.socket.ZeroCopySocket;
import io.bulla.refcount.LeaseTally;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The public operations of this module, each to be run with a failing system call.
final class FaultOperations {

    static final Set<String> TYPES = Set.of(
            "PosixSocket",
            "Outbox",
            "ZeroCopySocket",
            "MemfdSource",
            "SealedFileHandoff",
            "SlabLender",
            "SlabPeer",
            "SlabBorrower",
            "MappingProtection",
            "HugePages",
            "SealedFileWriter",
            "SharedSlabSource");
    /// They make no system call.
    static final Set<String> WITHOUT_CALLS = Set.of(
            "PosixSocket.isOpen",
            "PosixSocket.toString",
            "Outbox.path",
            "Outbox.unfinished",
            "ZeroCopySocket.isFinished",
            "ZeroCopySocket.copiedCalls",
            "ZeroCopySocket.notifiedCalls",
            "ZeroCopySocket.plainCalls",
            "ZeroCopySocket.toString",
            "MemfdSource.guard",
            "MemfdSource.trace",
            "SealedFileHandoff.share",
            "SealedFileHandoff.digest",
            "SealedFileHandoff.format",
            "SealedFileHandoff.verify",
            "SealedFileHandoff.toString",
            "SealedFileHandoff.moveWithDigest",
            "SharedSlabSource.figures",
            "SharedSlabSource.grow",
            "SharedSlabSource.seal",
            "SharedSlabSource.toString",
            "SharedSlabSource.trace",
            "SlabLender.figures",
            "SlabLender.path",
            "SlabLender.toString",
            "SlabPeer.bytes",
            "SlabPeer.gone",
            "SlabPeer.leases",
            "SlabPeer.pid",
            "SlabPeer.rename",
            "SlabPeer.token",
            "SlabPeer.toString",
            "SlabBorrower.toString",
            "HugePages.HugePages",
            "SealedFileWriter.size",
            "SealedFileWriter.blockBytes",
            "SealedFileWriter.figures",
            "SealedFileWriter.toString",
            "MappingProtection.valueOf",
            "MappingProtection.values");

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int SIZE = 3 * Memfd.PAGE + 17;

    /// What an operation works on; made before a call fails, and closed after.
    ///
    /// @param pair two connected sockets, or none
    record Ends(PosixSocket... pair) implements AutoCloseable {

        @Override
        public void close() {
            for (PosixSocket socket : pair) {
                socket.close();
            }
        }
    }

    interface Body {
        void run(Ends ends) throws Exception;
    }

    enum Sockets {
        NONE,
        UNIX,
        TCP
    }

    /// @param covers public methods that it calls
    record Operation(String name, Sockets sockets, Set<String> covers, Body body) {}

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = MemoryBudget.unlimited();
    private final MemoryBudget holes = new MemoryBudget(1 << 20);
    private final MemfdSource guarded = MemfdSource.create(budget, handles);
    private final ArenaSource arenas = ArenaSource.builder()
            .budget(MemoryBudget.unlimited())
            .trace(handles)
            .build();
    private final Path folder;
    private final List<Operation> all = new ArrayList<>();

    FaultOperations(Path folder) {
        this.folder = folder;
        sockets();
        sends();
        outboxes();
        seals();
        files();
    }

    List<Operation> all() {
        return all;
    }

    Ends open(Operation operation) throws IOException {
        return new Ends(
                switch (operation.sockets()) {
                    case NONE -> new PosixSocket[0];
                    case UNIX -> PosixSocket.unixPair();
                    case TCP -> SendFixture.tcpPair();
                });
    }

    boolean hasRing() {
        try (Outbox outbox = Outbox.open(SendPath.URING)) {
            return outbox.path() == SendPath.URING;
        }
    }

    boolean isAllBack() {
        return handles.open() == 0
                && budget.used() == 0
                && holes.used() == 0
                && Unmapper.MAPPINGS.waiting() == 0
                && Unmapper.FOREIGN.waiting() == 0;
    }

    /// Waits for what other threads give back.
    void awaitAllBack() {
        for (int wait = 0; wait < 100_000 && !isAllBack(); wait++) {
            LockSupport.parkNanos(100_000);
        }
    }

    List<String> leftovers() {
        return isAllBack()
                ? List.of()
                : List.of("handles=" + handles.open() + " booked=" + budget.used() + " holes=" + holes.used()
                        + " toUnmap=" + Unmapper.MAPPINGS.waiting() + " toClose=" + Unmapper.FOREIGN.waiting());
    }

    private void add(String name, Sockets sockets, Set<String> covers, Body body) {
        all.add(new Operation(name, sockets, covers, body));
    }

    private void files() {
        Set<String> covers = Set.of(
                "SealedFileWriter.create",
                "SealedFileWriter.append",
                "SealedFileWriter.align",
                "SealedFileWriter.flush",
                "SealedFileWriter.close");
        add("file", Sockets.NONE, covers, _ -> FileFaults.write(folder.resolve("file"), arenas));
    }

    private void sockets() {
        add("unixPair", Sockets.NONE, Set.of("PosixSocket.unixPair", "PosixSocket.close"), _ -> {
            for (PosixSocket socket : PosixSocket.unixPair()) {
                socket.close();
            }
        });
        add(
                "tcp",
                Sockets.NONE,
                Set.of("PosixSocket.listen", "PosixSocket.connect", "PosixSocket.accept", "PosixSocket.port"),
                _ -> {
                    try (PosixSocket server = PosixSocket.listen(0);
                            PosixSocket client = PosixSocket.connect(server.port());
                            PosixSocket peer = server.accept()) {
                        check(client.isOpen() && peer.isOpen());
                    }
                });
        add("tcpByAddress", Sockets.NONE, Set.of("PosixSocket.listen", "PosixSocket.connect"), _ -> {
            InetAddress here = InetAddress.getLoopbackAddress();
            try (PosixSocket server = PosixSocket.listen(new InetSocketAddress(here, 0));
                    PosixSocket client = PosixSocket.connect(new InetSocketAddress(here, server.port()))) {
                check(server.isOpen() && client.isOpen());
            }
        });
        add("unixByPath", Sockets.NONE, Set.of("PosixSocket.listen", "PosixSocket.connect"), _ -> {
            Path path = folder.resolve("socket");
            try (PosixSocket server = PosixSocket.listen(path);
                    PosixSocket client = PosixSocket.connect(path)) {
                check(server.isOpen() && client.isOpen());
            } finally {
                Files.deleteIfExists(path);
            }
        });
        add("options", Sockets.UNIX, Set.of("PosixSocket.setBlocking", "PosixSocket.setSendBuffer"), ends -> {
            ends.pair()[0].setBlocking(false);
            ends.pair()[0].setSendBuffer(1 << 16);
            ends.pair()[0].setBlocking(true);
        });
        add("await", Sockets.UNIX, Set.of("PosixSocket.awaitReadable", "PosixSocket.awaitWritable"), ends -> {
            check(ends.pair()[0].awaitWritable(-1));
            check(!ends.pair()[0].awaitReadable(0));
        });
        add("abort", Sockets.NONE, Set.of("PosixSocket.abort"), _ -> {
            PosixSocket[] pair = tcpPair();
            pair[0].abort();
            check(!pair[0].isOpen());
            pair[1].close();
        });
        add("receive", Sockets.UNIX, Set.of("PosixSocket.receive"), ends -> {
            ends.pair()[0].moveAndSend(sealed(arenas, 1));
            check(Arrays.equals(SendFixture.random(SIZE + 1), receive(ends.pair()[1], SIZE + 1)));
        });
    }

    /// Two that are connected, or an exception and none.
    private static PosixSocket[] tcpPair() throws PosixException {
        try (PosixSocket server = PosixSocket.listen(0)) {
            PosixSocket client = PosixSocket.connect(server.port());
            try {
                return new PosixSocket[] {client, server.accept()};
            } catch (Throwable failure) {
                client.close();
                throw failure;
            }
        }
    }

    private void sends() {
        for (Sockets kind : new Sockets[] {Sockets.UNIX, Sockets.TCP}) {
            add(
                    "send " + kind,
                    kind,
                    Set.of("PosixSocket.moveAndSend"),
                    ends -> stream(ends, message -> ends.pair()[0].moveAndSend(message)));
            add(
                    "writev " + kind,
                    kind,
                    Set.of("PosixSocket.writev"),
                    ends -> stream(ends, message -> cursor(message, cursor -> ends.pair()[0].writev(cursor))));
            add(
                    "sendmsg " + kind,
                    kind,
                    Set.of("PosixSocket.sendmsg"),
                    ends -> stream(ends, message -> cursor(message, cursor -> ends.pair()[0].sendmsg(cursor))));
            add(
                    "sendmmsg " + kind,
                    kind,
                    Set.of("PosixSocket.sendmmsg"),
                    ends -> stream(ends, message -> cursor(message, cursor -> ends.pair()[0].sendmmsg(cursor))));
        }
        add("send, not blocking", Sockets.UNIX, Set.of("PosixSocket.shareAndSend"), ends -> {
            ends.pair()[0].setSendBuffer(1);
            ends.pair()[0].setBlocking(false);
            stream(ends, message -> {
                try (message) {
                    ends.pair()[0].shareAndSend(message);
                }
            });
        });
        add(
                "zeroCopy",
                Sockets.TCP,
                Set.of(
                        "ZeroCopySocket.over",
                        "ZeroCopySocket.moveAndSend",
                        "ZeroCopySocket.reap",
                        "ZeroCopySocket.finish",
                        "ZeroCopySocket.close"),
                ends -> {
                    ZeroCopySocket zeroCopy = ZeroCopySocket.over(ends.pair()[0]);
                    closing(
                            zeroCopy,
                            () -> stream(ends, zeroCopy::moveAndSend, () -> {
                                zeroCopy.reap();
                                check(zeroCopy.finish(SOON));
                            }));
                });
        add("zeroCopy, shared", Sockets.TCP, Set.of("ZeroCopySocket.shareAndSend"), ends -> {
            ZeroCopySocket zeroCopy = ZeroCopySocket.over(ends.pair()[0]);
            closing(
                    zeroCopy,
                    () -> stream(
                            ends,
                            message -> {
                                try (message) {
                                    zeroCopy.shareAndSend(message);
                                }
                            },
                            () -> check(zeroCopy.finish(SOON))));
        });
    }

    private void outboxes() {
        for (SendPath path : new SendPath[] {SendPath.SENDMSG, SendPath.URING, SendPath.URING_ZC}) {
            for (Sockets kind : new Sockets[] {Sockets.UNIX, Sockets.TCP}) {
                add(
                        "outbox " + path + " " + kind,
                        kind,
                        Set.of(
                                "Outbox.open",
                                "Outbox.shareAndSend",
                                "Outbox.moveAndSend",
                                "Outbox.progress",
                                "Outbox.finish",
                                "Outbox.close"),
                        ends -> {
                            Outbox outbox = Outbox.open(path);
                            closing(
                                    outbox,
                                    () -> stream(
                                            ends,
                                            message -> {
                                                SocketSend send = shared(outbox, ends.pair()[0], message);
                                                progress(outbox);
                                                finish(outbox);
                                                if (send.failure() != null) {
                                                    throw send.failure();
                                                }
                                            },
                                            () -> {}));
                        });
            }
        }
    }

    /// Progress may be refused once: nothing is lost by that, the sends go on with the next.
    private static void progress(Outbox outbox) {
        try {
            outbox.progress(0);
        } catch (PosixException refused) {
            check(refused.number() > 0);
        }
    }

    private static void finish(Outbox outbox) throws PosixException {
        try {
            check(outbox.finish(SOON));
        } catch (PosixException refused) {
            check(outbox.finish(SOON));
        }
    }

    private void seals() {
        add("guard", Sockets.NONE, Set.of("MappingProtection.ofKernel", "MemfdSource.create"), _ -> {
            MappingProtection before = MappingProtection.ofKernel();
            SharedMappings.forget();
            try {
                MemfdSource.create();
            } finally {
                SyscallInterceptor.watch(null);
                SharedMappings.forget();
                check(MappingProtection.ofKernel() == before);
            }
        });
        add("buffer", Sockets.NONE, Set.of("MemfdSource.allocate", "MemfdSource.grow", "MemfdSource.seal"), _ -> {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(guarded, 100)) {
                byte[] bytes = SendFixture.random(20 * SIZE);
                for (int at = 0; at < bytes.length; at += SIZE) {
                    builder.put(Arrays.copyOfRange(bytes, at, at + SIZE));
                }
                try (SealedBuffer sealed = builder.seal()) {
                    check(Arrays.equals(bytes, bytesOf(sealed)));
                }
            }
        });
        add("abandoned", Sockets.NONE, Set.of("MemfdSource.allocate"), _ -> {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(guarded, 100)) {
                builder.put(new byte[10]);
            }
        });
        add("huge pages", Sockets.NONE, Set.of("HugePages.take"), _ -> {
            SlabSupplier.Memory memory;
            try {
                memory = new HugePages().take(SlabSource.SLAB);
            } catch (OutOfMemoryError refused) {
                check(refused.getMessage().startsWith("mmap: errno="));
                return;
            }
            try {
                memory.segment().set(JAVA_BYTE, SlabSource.SLAB - 1, (byte) 1);
                // small pages, and pages that stay, do as well
                memory.discard();
            } finally {
                memory.end();
            }
        });
        sharedSlabs();
        lending();
        handOver("seal", () -> sealed(guarded, 1));
        handOver("seal of a copy", () -> sealed(arenas, 1));
        handOver("seal of nothing", () -> BufferBuilder.create(guarded).seal());
        add("seal that is refused", Sockets.UNIX, Set.of("SealedFileHandoff.receiveFrom"), ends -> {
            int[] pipe = Attack.pipe();
            try (Arena arena = Arena.ofConfined()) {
                Rights.send(SocketDoor.stream(ends.pair()[0]), arena.allocate(64, 8), pipe[0], pipe[1], pipe[0]);
                SealedFileHandoff.receiveFrom(ends.pair()[1], SIZE).close();
                throw new AssertionError("received");
            } catch (SealRefusedException asItShould) {
                // that is its name
            } finally {
                SyscallInterceptor.watch(null);
                Call.current().close(pipe[0]);
                Call.current().close(pipe[1]);
            }
        });
        add("seal with holes", Sockets.UNIX, Set.of("SealedFileHandoff.receiveFrom"), ends -> {
            int fd = Memfd.create();
            try {
                named("memfd_create", fd);
                named("ftruncate", Memfd.truncate(fd, SIZE));
                named("fcntl", Memfd.addSeals(fd, Memfd.IMMUTABLE));
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment header = arena.allocate(64, 8);
                    MemorySegment.copy(new byte[] {0x42, 0x53, 0x45, 0x41}, 0, header, JAVA_BYTE, 0, 4);
                    header.set(JAVA_BYTE, 31, (byte) 100);
                    Rights.send(SocketDoor.stream(ends.pair()[0]), header, fd);
                }
            } finally {
                if (fd >= 0) {
                    Call.current().close(fd);
                }
            }
            try (SealedFileHandoff seal = SealedFileHandoff.receiveFrom(ends.pair()[1], SIZE, holes);
                    SealedBuffer buffer = seal.share()) {
                check(Arrays.equals(new byte[100], bytesOf(buffer)));
            }
        });
    }

    private void sharedSlabs() {
        Set<String> covers = Set.of(
                "SharedSlabSource.create",
                "SharedSlabSource.allocate",
                "SharedSlabSource.trim",
                "SharedSlabSource.close");
        add("shared slabs", Sockets.NONE, covers, _ -> {
            try (SharedSlabSource slabs =
                    SharedSlabSource.create(SlabSource.builder().budget(budget).trace(handles))) {
                try (SealedBuffer small = sealed(slabs, 1);
                        SealedBuffer large = BufferBuilder.ofCapacity(slabs, SlabSource.SLAB + 1)
                                .put(bytesOf(small))
                                .seal()) {
                    check(Arrays.equals(bytesOf(small), bytesOf(large)));
                }
                slabs.trim();
            }
        });
    }

    private void lending() {
        Set<String> covers = Set.of(
                "SlabLender.open",
                "SlabLender.accept",
                "SlabLender.close",
                "SlabPeer.lend",
                "SlabPeer.send",
                "SlabPeer.close",
                "SlabBorrower.connect",
                "SlabBorrower.receive",
                "SlabBorrower.open",
                "SlabBorrower.listen",
                "SlabBorrower.listenOnce",
                "SlabBorrower.openNow",
                "SlabBorrower.link",
                "SlabBorrower.giveBack",
                "SlabBorrower.tell",
                "SlabBorrower.onWord",
                "SlabBorrower.close",
                "SlabPeer.tell",
                "SlabPeer.onWords",
                "SlabPeer.onWord",
                "SlabPeer.giveBack",
                "SlabPeer.cutOff");
        add("lending", Sockets.NONE, covers, _ -> {
            Path own = Files.createDirectory(
                    folder.resolve("own"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            try (SharedSlabSource slabs =
                    SharedSlabSource.create(SlabSource.builder().budget(budget).trace(handles))) {
                SlabLender lender = SlabLender.open(own, slabs, SlabQuota.standard());
                try {
                    lend(slabs, lender, 1);
                } catch (EOFException | PosixException.PeerClosed endedByTheLendersThread) {
                    // whose call failed: the next borrower is served
                    lend(slabs, lender, 2);
                } finally {
                    lender.close(SOON);
                }
            } finally {
                SyscallInterceptor.watch(null);
                Files.delete(own);
            }
        });
    }

    private void lend(SharedSlabSource slabs, SlabLender lender, long token) throws Exception {
        try (SlabBorrower borrower = SlabBorrower.connect(lender.path(), token, arenas, 2 * SIZE)) {
            SlabPeer peer;
            do {
                peer = lender.accept(SOON);
                check(peer != null);
            } while (peer.token() != token);
            for (int i = 0; i < 2; i++) {
                try (SealedBuffer message = sealed(slabs, i)) {
                    peer.send(message);
                    try (SealedBuffer received = borrower.receive()) {
                        check(Arrays.equals(bytesOf(message), bytesOf(received)));
                    }
                }
            }
            ByteBuffer record = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
            try (SealedBuffer message = sealed(slabs, 2)) {
                check(peer.lend(message, record));
                try (SealedBuffer opened = borrower.open(record.rewind())) {
                    check(Arrays.equals(bytesOf(message), bytesOf(opened)));
                }
            }
            try (SealedBuffer file = sealed(guarded, 3)) {
                // a socket without room is no failure: it is asked again
                check(peer.lend(file) || peer.lend(file));
                try (SealedBuffer received = borrower.receive()) {
                    check(Arrays.equals(bytesOf(file), bytesOf(received)));
                }
                check(peer.lend(file, record.clear()) || peer.lend(file, record.clear()));
                try (SealedBuffer opened = opened(borrower, record.rewind())) {
                    check(Arrays.equals(bytesOf(file), bytesOf(opened)));
                }
            }
            borrower.listen();
            linked(slabs, borrower, peer);
            peer.close();
        }
    }

    /// Words of the layers above, and leases that go back another way.
    private void linked(SharedSlabSource slabs, SlabBorrower borrower, SlabPeer peer) throws Exception {
        peer.onWords((_, _) -> {});
        borrower.link(new SlabBorrower.Link() {
            private int leases;

            @Override
            public boolean giveBack(int slot, int generation, long slab) {
                return leases++ % 2 == 0
                        ? borrower.giveBack(slot, generation, slab)
                        : peer.giveBack(slot, generation, slab);
            }

            @Override
            public void onWord(int what, long first, long second, ByteBuffer record) {}
        });
        ByteBuffer record = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
        // a socket without room, or without news, is no failure: it is asked again
        check(peer.tell(1, 2, 3, record) || peer.tell(1, 2, 3, record));
        check(borrower.listenOnce() || borrower.listenOnce());
        check(borrower.tell(1, 2) || borrower.tell(1, 2));
        for (int i = 4; i < 8; i++) {
            try (SealedBuffer message = sealed(slabs, i)) {
                check(peer.lend(message, record.clear()) || peer.lend(message, record.clear()));
                SealedBuffer now = borrower.openNow(record.rewind());
                try (SealedBuffer opened = now == null ? opened(borrower, record) : now) {
                    check(Arrays.equals(bytesOf(message), bytesOf(opened)));
                }
            }
        }
        peer.cutOff("of a test");
    }

    /// A socket that has nothing now, although the file was sent, is one of the faults.
    private static SealedBuffer opened(SlabBorrower borrower, ByteBuffer record) throws IOException {
        try {
            return borrower.open(record);
        } catch (SealRefusedException refused) {
            if (!refused.getMessage().contains("no such file")) {
                throw refused;
            }
            return borrower.open(record);
        }
    }

    private static void named(String call, int result) throws PosixException {
        if (result < 0) {
            throw CallFailure.of(call, -result, "");
        }
    }

    private interface Content {
        SealedBuffer make();
    }

    private void handOver(String name, Content content) {
        Set<String> covers = Set.of(
                "SealedFileHandoff.share",
                "SealedFileHandoff.move",
                "SealedFileHandoff.moveWithDigest",
                "SealedFileHandoff.sendTo",
                "SealedFileHandoff.receiveFrom",
                "SealedFileHandoff.close");
        add(name, Sockets.UNIX, covers, ends -> {
            byte[] expected;
            try (SealedBuffer made = content.make()) {
                expected = bytesOf(made);
                try (SealedFileHandoff seal =
                        SealedFileHandoff.share(made, 7, guarded).moveWithDigest()) {
                    seal.sendTo(ends.pair()[0]);
                }
            }
            try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(ends.pair()[1], SIZE + 1);
                    SealedBuffer buffer = received.share()) {
                received.verify();
                check(received.format() == 7 && Arrays.equals(expected, bytesOf(buffer)));
            }
        });
    }

    /// By a share, which is one that is moved.
    private static SocketSend shared(Outbox outbox, PosixSocket socket, SealedBuffer message) throws PosixException {
        try (message) {
            return outbox.shareAndSend(socket, message);
        }
    }

    private interface Sending {
        void send(SealedBuffer message) throws Exception;
    }

    private interface Step {
        void run() throws Exception;
    }

    private void stream(Ends ends, Sending sending) throws Exception {
        stream(ends, sending, () -> {});
    }

    /// Three messages, whose fate the sender is told of; then what the peer has read is compared with that.
    private void stream(Ends ends, Sending sending, Step afterwards) throws Exception {
        CompletableFuture<byte[]> received = new CompletableFuture<>();
        Thread peer = Thread.ofPlatform().name("peer").start(() -> received.complete(readToTheEnd(ends.pair()[1])));
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        byte[] firstFailed = null;
        byte[] beforeIt = null;
        Exception failure = null;
        for (int i = 0; i < 3; i++) {
            byte[] bytes = SendFixture.random(SIZE + i);
            try {
                sending.send(sealed(i == 1 ? guarded : arenas, i));
                sent.write(bytes);
            } catch (IOException | IllegalStateException failed) {
                if (failure == null) {
                    failure = failed;
                    firstFailed = bytes;
                    beforeIt = sent.toByteArray();
                }
            }
        }
        try {
            afterwards.run();
        } catch (PosixException refused) {
            failure = failure == null ? refused : failure;
        } finally {
            ends.pair()[0].close();
            if (!peer.join(SOON)) {
                ends.pair()[1].close();
                throw new AssertionError("the peer still waits for the end");
            }
        }
        byte[] got = received.get(1, TimeUnit.SECONDS);
        check(firstFailed == null && isBegin(got, sent.toByteArray()) && (failure != null || got.length == sent.size())
                || firstFailed != null && (isBegin(got, sent.toByteArray()) || isBegin(got, beforeIt, firstFailed)));
        if (failure != null) {
            throw failure;
        }
    }

    private static boolean isBegin(byte[] got, byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        byte[] whole = all.toByteArray();
        return got.length <= whole.length && Arrays.equals(got, 0, got.length, whole, 0, got.length);
    }

    /// Closes what perhaps says first that it cannot.
    private static void closing(AutoCloseable one, Step body) throws Exception {
        IllegalStateException refused = null;
        try {
            body.run();
        } finally {
            try {
                one.close();
            } catch (IllegalStateException notYet) {
                refused = notYet;
                one.close();
            }
        }
        if (refused != null) {
            throw refused;
        }
    }

    private interface CursorStep {
        long take(NativeIoVecCursor cursor) throws IOException;
    }

    private static void cursor(SealedBuffer message, CursorStep step) throws IOException {
        try (message;
                Arena arena = Arena.ofConfined()) {
            IoVec bytes = message.iovec();
            NativeIoVecCursor cursor = NativeIoVecCursor.of(NativeIoVec.of(bytes, arena), arena, 8);
            while (cursor.remaining() > 0) {
                step.take(cursor);
            }
        }
    }

    /// `SIZE + i` bytes.
    private static SealedBuffer sealed(MemorySource source, int i) {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            return builder.put(SendFixture.random(SIZE + i)).seal();
        }
    }

    private static byte[] bytesOf(SealedBuffer buffer) {
        try (Arena arena = Arena.ofConfined()) {
            return buffer.iovec().toSegment(arena).toArray(JAVA_BYTE);
        }
    }

    private static byte[] receive(PosixSocket from, int size) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(size);
            for (long done = 0; done < size; ) {
                long read = from.receive(target.asSlice(done));
                check(read >= 0);
                done += read;
            }
            return target.toArray(JAVA_BYTE);
        }
    }

    private static byte[] readToTheEnd(PosixSocket from) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(1 << 16);
            for (long read = from.receive(target); read >= 0; read = from.receive(target)) {
                all.writeBytes(target.asSlice(0, read).toArray(JAVA_BYTE));
            }
        } catch (IOException reset) {
            // the sender aborted
        }
        return all.toByteArray();
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError("other than it should be");
        }
    }
}
