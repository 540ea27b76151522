// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.calls.NativeAccess;
import io.bulla.posix.internal.calls.Poll;
import io.bulla.posix.internal.stream.StreamSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Lends buffers of a [SharedSlabSource] to other processes of this host and of this user.
///
/// ```
/// this process:   open(folder, memory, quota) --accept--> SlabPeer --lend(buffer)--> 32 bytes go
/// another one:    SlabBorrower.connect(path) --receive--> SealedBuffer --close--> 16 bytes come back
/// ```
///
/// A borrower gets each slab once, as a descriptor over a unix socket, and maps it read-only. From then on a
/// buffer is a lease in a table of the lender's own, and {slab, slot, generation, offset, length} on the
/// socket. No count is in shared memory, so a process that dies leaves nothing half-done.
///
/// **When memory is used again.** A hang-up of the connection says nothing about the mapping. So each
/// borrower holds a *string*, one end of a socket pair which it closes after its last mapping is gone, or the
/// kernel does when the process has ended. What it has not given back by then is closed by the lender's
/// thread, at once. A borrower that says what is not true (a lease that it does not have, twice, or of
/// another generation) is cut off; what it had stays untouched until its string hangs up.
///
/// **Who may borrow.** Processes of the same user: the socket is in a folder that only that user may enter,
/// and the kernel tells the peer's user for each connection. They see the whole of each slab, and those that
/// may trace this process can write to it: they are trusted to read, and to say when they are done, and with
/// no more.
///
/// A connection that does not say who it is within ten seconds is ended, and hears why; so is the oldest of more than
/// 64 such, and one for which this process has no descriptors. They hold up no borrower.
///
/// One thread serves all borrowers; no call of another thread waits for it.
public final class SlabLender implements AutoCloseable {

    private static final String NAME = "slabs-";
    private static final String NOT_YET = ".new";
    private static final int MOST_PEERS = 4096;
    /// Connections that have not said who they are. The next one costs the oldest of them its place.
    private static final int MOST_SILENT = 64;
    private static final Duration GREETING = Duration.ofSeconds(10);
    private static final int PAUSE_MILLIS = 50;
    private static final long PAUSE_NANOS = 5_000_000;
    private static final long NANOS_PER_MILLI = 1_000_000;
    /// What borrowers give back within this time is taken back in one go: else the buffer of each would wake the
    /// thread, which takes longer than the copy of a small message (docs/performance/shared.md).
    private static final long GATHER_NANOS = 1_000_000;
    private static final long SCRATCH = 256 * SlabRecord.TO_LENDER;
    private static final int WAKER = 0;
    private static final int LISTENER = 1;
    private static final int FIRST_PEER = 2;

    private final SharedSlabSource memory;
    private final SlabQuota quota;
    private final Path path;
    private final StreamSocket listener;
    private final long greetingNanos;
    // its other end is closed to wake the thread for good
    private final StreamSocket[] waker;
    private final Thread thread;
    private final int uid = Call.current().geteuid();
    private final LinkedBlockingQueue<SlabPeer> greeted = new LinkedBlockingQueue<>();

    // of the thread alone
    private final Poll poll = new Poll();
    private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH, 8);
    private long acceptsFrom = System.nanoTime();
    // its place is for a connection that is told that there are no descriptors
    private @Nullable Descriptor reserve;

    private final LenderCounts counts = new LenderCounts();
    // from here on under this monitor
    private final List<BorrowerConnection> connections = new ArrayList<>();
    private boolean closed;

    private SlabLender(
            SharedSlabSource memory,
            SlabQuota quota,
            Path path,
            Duration greeting,
            StreamSocket listener,
            StreamSocket... waker) {
        this.memory = Objects.requireNonNull(memory, "memory");
        this.quota = Objects.requireNonNull(quota, "quota");
        this.path = path;
        this.greetingNanos = greeting.toNanos();
        this.listener = listener;
        this.waker = waker;
        this.thread = new Thread(null, this::run, "bulla-lender", 0, false);
        thread.setDaemon(true);
    }

    /// Begins to lend. Sockets that lenders of this folder left behind when they were killed are removed.
    ///
    /// @param folder of this user, mode 0700
    /// @param memory whose buffers can be lent; it outlives the lender
    /// @param quota of each borrower
    /// @return to be closed
    /// @throws IOException if the folder is another user's or others may enter it, or the system refuses
    /// @throws UnsupportedOperationException if native access is not enabled
    public static SlabLender open(Path folder, SharedSlabSource memory, SlabQuota quota) throws IOException {
        return open(folder, memory, quota, GREETING);
    }

    /// @param greeting how long a connection may take to say who it is
    static SlabLender open(Path folder, SharedSlabSource memory, SlabQuota quota, Duration greeting)
            throws IOException {
        NativeAccess.linker();
        LenderFolder.check(folder);
        LenderFolder.removeOrphans(folder, NAME);
        Path path = LenderFolder.fresh(folder, NAME);
        Path notYet = folder.resolve(path.getFileName() + NOT_YET);
        StreamSocket[] waker = StreamSocket.unixPair();
        boolean opened = false;
        @Nullable StreamSocket listener = null;
        try {
            // found under its name only once it listens: before, it looks like a dead one's
            listener = StreamSocket.listen(notYet);
            listener.setBlocking(false);
            SlabLender lender = new SlabLender(memory, quota, path, greeting, listener, waker);
            Files.move(notYet, path);
            lender.thread.start();
            opened = true;
            return lender;
        } finally {
            if (!opened) {
                waker[0].close();
                waker[1].close();
                if (listener != null) {
                    listener.close();
                }
                Files.deleteIfExists(notYet);
                Files.deleteIfExists(path);
            }
        }
    }

    /// Where borrowers connect.
    ///
    /// @return a socket in the folder
    public Path path() {
        return path;
    }

    /// Waits for the next borrower.
    ///
    /// @param patience how long
    /// @return `null` if the time is over
    /// @throws InterruptedException if the thread is interrupted
    public @Nullable SlabPeer accept(Duration patience) throws InterruptedException {
        return greeted.poll(TimeUnit.NANOSECONDS.convert(patience), TimeUnit.NANOSECONDS);
    }

    /// Figures of the lender: a snapshot.
    ///
    /// @return figures of the time since it was opened, and of now
    public SlabLenderFigures figures() {
        List<BorrowerConnection> now = connections();
        int leases = 0;
        long bytes = 0;
        int quarantined = 0;
        for (BorrowerConnection connection : now) {
            SlabPeer each = connection.peer();
            leases += each.leases();
            bytes += each.bytes();
            quarantined += each.gone() == null ? 0 : each.leases();
        }
        return counts.with(now.size(), leases, bytes, quarantined);
    }

    /// Ends it: no new borrower, and nothing more is lent. What is lent stays lent until it is given back by
    /// a string that hangs up; until then the lender's thread goes on. Again is harmless.
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        // here, for the process may end before the thread has come to it
        LenderFolder.remove(path);
        waker[1].close();
    }

    /// Ends it, as [#close()], and waits until nothing is lent.
    ///
    /// @param patience how long to wait
    /// @throws IllegalStateException if borrowers still hold their strings then
    /// @throws InterruptedException if the thread is interrupted while it waits; the lender is closed
    public void close(Duration patience) throws InterruptedException {
        close();
        if (!thread.join(patience)) {
            throw new IllegalStateException(
                    "lender closed while slabs are mapped: waited=" + patience.toMillis() + "ms by=" + connections());
        }
    }

    @Override
    public String toString() {
        return "SlabLender[" + figures() + "]";
    }

    private synchronized List<BorrowerConnection> connections() {
        return List.copyOf(connections);
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void run() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = step();
            } catch (Throwable failure) {
                // out of heap, or the system refuses for now; the next step asks again
                counts.failed();
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
        closeReserve();
        waker[0].close();
    }

    /// @return false once it is closed and every string has hung up
    private boolean step() throws PosixException {
        // of no meaning here, and it would make every pause end at once
        Thread.interrupted();
        // looked at once: a close that comes later is seen by the waker
        boolean over = isClosed();
        if (over) {
            endAll();
        }
        List<BorrowerConnection> now = connections();
        if (over && now.isEmpty()) {
            return false;
        }
        look(now, over);
        refuseSilent(now);
        boolean heard = false;
        for (int i = 0; i < now.size(); i++) {
            boolean speaks = poll.saw(FIRST_PEER + 2 * i);
            serve(now.get(i), speaks, poll.saw(FIRST_PEER + 2 * i + 1));
            heard |= speaks;
        }
        if (poll.saw(LISTENER)) {
            take();
        }
        if (heard) {
            LockSupport.parkNanos(GATHER_NANOS);
        }
        return true;
    }

    /// Takes back at once what borrowers have given back: a quota is used up.
    private void takeBack() {
        LockSupport.unpark(thread);
    }

    private void look(List<BorrowerConnection> now, boolean over) throws PosixException {
        boolean takes = listener.isOpen() && now.size() < MOST_PEERS;
        long pause = acceptsFrom - System.nanoTime();
        poll.clear();
        poll.add(over ? Poll.NONE : waker[WAKER].descriptor().fd(), Libc.POLLIN);
        poll.add(takes && pause <= 0 ? listener.descriptor().fd() : Poll.NONE, Libc.POLLIN);
        for (BorrowerConnection each : now) {
            poll.add(each.socketFd(), Libc.POLLIN);
            // what it writes there is of no interest; that it has ended is
            poll.add(each.stringFd(), (short) 0);
        }
        poll.await(takes && pause > 0 ? PAUSE_MILLIS : untilGreeted(now));
    }

    /// @return milliseconds until a connection has been silent for too long; -1 if all have said who they are
    private int untilGreeted(List<BorrowerConnection> now) {
        for (BorrowerConnection each : now) {
            // they are in the order in which they came
            if (each.isSilent()) {
                long left = each.since() + greetingNanos - System.nanoTime();
                return Math.clamp(left / NANOS_PER_MILLI + 1, 0, Integer.MAX_VALUE);
            }
        }
        return -1;
    }

    private void refuseSilent(List<BorrowerConnection> now) {
        for (int i = 0; i < now.size(); i++) {
            BorrowerConnection each = now.get(i);
            boolean speaks = poll.saw(FIRST_PEER + 2 * i);
            if (!speaks && System.nanoTime() - each.since() > greetingNanos && each.isSilent()) {
                refuse(
                        each,
                        Errno.ETIMEDOUT,
                        "it did not say who it is: waited=" + greetingNanos / NANOS_PER_MILLI + "ms");
            }
        }
    }

    /// One more connection than may be silent.
    private void makeRoom() {
        List<BorrowerConnection> silent =
                connections().stream().filter(BorrowerConnection::isSilent).toList();
        if (silent.size() >= MOST_SILENT) {
            refuse(
                    silent.getFirst(),
                    Errno.EBUSY,
                    "too many that do not say who they are: connections=" + silent.size());
        }
    }

    private void refuse(BorrowerConnection connection, Errno why, String message) {
        counts.refused();
        connection.refuse(why.number(), connections().size(), Call.descriptorLimit(), message);
        serve(connection, false, false);
    }

    private void serve(BorrowerConnection connection, boolean speaks, boolean hangsUp) {
        if (speaks) {
            connection.hear(scratch);
        }
        if (hangsUp) {
            counts.hungUp(connection.hungUp());
        } else {
            connection.rest();
        }
        if (connection.socketFd() == Poll.NONE && connection.stringFd() == Poll.NONE) {
            synchronized (this) {
                connections.remove(connection);
            }
            // a program may ask for its peers once, and for no more
            greeted.remove(connection.peer());
        }
    }

    private BorrowerConnection connection(StreamSocket socket, int pid) {
        SlabPeer peer = new SlabPeer(memory, counts, this::takeBack, socket, pid, quota);
        return new BorrowerConnection(peer, socket, counts, greeted::add);
    }

    private void take() {
        makeRoom();
        keepReserve();
        try {
            StreamSocket socket = listener.accept();
            boolean taken = false;
            try {
                socket.setBlocking(false);
                StreamSocket.Owner owner = socket.peer();
                if (owner.uid() != uid) {
                    counts.refused();
                    return;
                }
                BorrowerConnection connection = connection(socket, owner.pid());
                synchronized (this) {
                    connections.add(connection);
                }
                taken = true;
            } finally {
                if (!taken) {
                    socket.close();
                }
            }
        } catch (PosixException refusal) {
            if (refusal.errno() != Errno.EAGAIN) {
                counts.failed();
                if (refusal.errno() != Errno.EMFILE || !refuseWithReserve(refusal)) {
                    // the connection waits, and would wake this thread for ever
                    acceptsFrom = System.nanoTime() + PAUSE_MILLIS * NANOS_PER_MILLI;
                }
            }
        }
    }

    private void keepReserve() {
        if (reserve == null) {
            int copy = Call.current().fcntl(waker[WAKER].descriptor().fd(), Libc.F_DUPFD_CLOEXEC, 0);
            reserve = copy < 0 ? null : new Descriptor(copy, "reserve");
        }
    }

    private void closeReserve() {
        Descriptor held = reserve;
        reserve = null;
        if (held != null) {
            held.close();
        }
    }

    /// This process has no descriptors left: who connects is told so, and need not wait.
    ///
    /// @return false if nothing was taken
    private boolean refuseWithReserve(PosixException why) {
        if (reserve == null) {
            return false;
        }
        closeReserve();
        try (StreamSocket socket = listener.accept()) {
            socket.setBlocking(false);
            boolean ours = socket.peer().uid() == uid;
            counts.refused();
            if (ours) {
                connection(socket, 0)
                        .refuse(
                                why.number(),
                                connections().size(),
                                Call.descriptorLimit(),
                                String.valueOf(why.getMessage()));
            }
            return true;
        } catch (PosixException another) {
            return false;
        } finally {
            keepReserve();
        }
    }

    private void endAll() {
        if (listener.isOpen()) {
            listener.close();
            LenderFolder.remove(path);
        }
        for (BorrowerConnection each : connections()) {
            each.end("the lender was closed");
            serve(each, false, false);
        }
    }
}
