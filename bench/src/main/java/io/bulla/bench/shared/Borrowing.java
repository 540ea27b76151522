// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.posix.SlabBorrower;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// The program of a borrower: it keeps some of what it gets, looks at every byte when it comes and
/// before it goes, until its input or its lender ends.
public final class Borrowing {

    private static final int MOST_HELD = 40;
    private static final long LIMIT = 1 << 20;

    private final List<SealedBuffer> held = new ArrayList<>();
    private final Random random = new Random();
    private long messages;
    private long wrong;

    private Borrowing() {}

    /// @param args the lender's socket
    public static void main(String... args) {
        new Borrowing().run(Path.of(args[0]));
    }

    private void run(Path lender) {
        try (ArenaSource copies = ArenaSource.create()) {
            borrow(lender, copies);
            while (!held.isEmpty()) {
                check(held.removeLast());
            }
        }
        System.out.println("wrong=" + wrong + " messages=" + messages);
    }

    private void borrow(Path lender, ArenaSource copies) {
        try (SlabBorrower borrower =
                SlabBorrower.connect(lender, ProcessHandle.current().pid(), copies, LIMIT)) {
            Thread.ofPlatform().daemon().start(() -> {
                Lending.awaitEnd();
                borrower.close();
            });
            while (true) {
                SealedBuffer message = borrower.receive();
                held.add(message);
                if (messages++ == 0) {
                    System.out.println("borrows");
                }
                wrong += Content.isRight(message) ? 0 : 1;
                while (held.size() > random.nextInt(MOST_HELD)) {
                    check(held.remove(random.nextInt(held.size())));
                }
            }
        } catch (IOException ended) {
            // the lender was killed, or this one is to end
        }
    }

    private void check(SealedBuffer message) {
        try (message) {
            wrong += Content.isRight(message) ? 0 : 1;
        }
    }
}
