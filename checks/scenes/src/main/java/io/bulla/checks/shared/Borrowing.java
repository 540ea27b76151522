// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.lending.SlabBorrower;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// The program of a borrower: it keeps some of what it gets, looks at every byte when it comes and
/// before it goes, until its input or its lender ends. Now and then it takes a raw view, which it looks at once
/// more after the buffer's close: it throws, or is as it was.
public final class Borrowing {

    /// Argument after the socket: start a process of its own, as soon as a message is there.
    static final String CHILD = "--child";

    private static final int MOST_HELD = 40;
    private static final int PAUSE_MILLIS = 20;
    private static final int RAW = 64;
    private static final long LIMIT = 1 << 20;

    /// @param seed as it was when the message came
    private record Held(SealedBuffer message, long seed) {}

    private final boolean startsChild;
    // from here on under the monitor
    private final List<Held> held = new ArrayList<>();
    private final Random random = new Random();
    private long messages;
    private long bytes;
    private long wrong;

    private Borrowing(boolean startsChild) {
        this.startsChild = startsChild;
    }

    /// Runs it.
    ///
    /// @param args the lender's socket, `--child`
    /// @throws Exception if the system refuses
    public static void main(String... args) throws Exception {
        new Borrowing(List.of(args).contains(CHILD)).run(Path.of(args[0]));
    }

    private void run(Path lender) throws IOException {
        long before = Left.now();
        Thread.ofPlatform().daemon().start(this::giveBackNowAndThen);
        try (ArenaSource copies = ArenaSource.create()) {
            borrow(lender, copies);
            giveBackAll();
        }
        System.out.println(
                "wrong=" + wrong + " messages=" + messages + " bytes=" + bytes + " left=" + Left.since(before));
    }

    private void borrow(Path lender, ArenaSource copies) {
        try (SlabBorrower borrower =
                SlabBorrower.connect(lender, ProcessHandle.current().pid(), copies, LIMIT)) {
            Thread.ofPlatform().daemon().start(() -> {
                Lending.awaitEnd();
                borrower.close();
            });
            while (true) {
                take(borrower.receive());
            }
        } catch (IOException ended) {
            // the lender was killed, or this one is to end
        }
    }

    private synchronized void take(SealedBuffer message) throws IOException {
        long seed = Content.seed(message);
        held.add(new Held(message, seed));
        if (messages++ == 0) {
            first();
        }
        bytes += message.byteSize();
        wrong += Content.isRight(message, seed) ? 0 : 1;
        while (held.size() > random.nextInt(MOST_HELD)) {
            giveBackAny();
        }
    }

    private synchronized void giveBackAll() {
        while (!held.isEmpty()) {
            check(held.removeLast());
        }
    }

    private synchronized void giveBackAny() {
        if (!held.isEmpty()) {
            check(held.remove(random.nextInt(held.size())));
        }
    }

    /// The lender may wait for it.
    private void giveBackNowAndThen() {
        try {
            while (true) {
                Thread.sleep(PAUSE_MILLIS);
                giveBackAny();
            }
        } catch (InterruptedException ended) {
            // the program's end gives back the rest
        }
    }

    private void first() throws IOException {
        if (startsChild) {
            System.out.println(
                    "child=" + new ProcessBuilder("sleep", "600").start().pid());
        }
        System.out.println("borrows");
    }

    private void check(Held old) {
        MemorySegment view = null;
        try (SealedBuffer message = old.message) {
            wrong += Content.isRight(message, old.seed) ? 0 : 1;
            if (random.nextInt(RAW) == 0) {
                view = message.iovec().region(0);
            }
        }
        if (view != null) {
            try {
                wrong += Content.isRight(view, old.seed) ? 0 : 1;
            } catch (IllegalStateException ended) {
                // as it should, sooner or later; HotSpot interrupts a thread that it takes out of a read
                Thread.interrupted();
            }
        }
    }
}
