// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.testkit.FaultScene.Memory;
import io.bulla.testkit.FaultScene.Read;
import io.bulla.testkit.FaultScene.Watched;
import io.bulla.testkit.FaultScene.Written;
import io.bulla.testkit.internal.Bystander;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Looks at all nine promises after a step, and ends the step's scene. No fault is armed meanwhile.
final class NinePromises {

    /// How the misuse table, and the state machines of a send, say that something is over.
    private static final Pattern OVER =
            Pattern.compile("already|is over|than announced|than events|out of order|more often than retained");

    /// How a view says so, ours or the JDK's, and what refuses a write into what it writes.
    private static final Pattern REFUSED =
            Pattern.compile("^stale view|^Already closed|^codec takes back|^no DirectBuffer over this");

    private static final int TRAILER = 5000;

    private final FaultScene scene;
    private final Duration patience;
    private final BiConsumer<Promise, String> violated;
    private final Map<IoVec, byte[]> views = new LinkedHashMap<>();
    private boolean isKnownLost;

    /// @param patience how long other threads may take to do what they do, and a source to end
    NinePromises(FaultScene scene, Duration patience, BiConsumer<Promise, String> violated) {
        this.scene = scene;
        this.patience = patience;
        this.violated = violated;
    }

    /// @param untouched nothing failed, so the operation may have changed builders and readers
    void check(boolean untouched) {
        check(!untouched, untouched);
    }

    /// After a call that called back: builders may have been written to, and be over.
    ///
    /// @param failed the operation did nothing, so that readers are where they were
    void checkCalledBack(boolean failed) {
        check(failed, true);
    }

    private void check(boolean readersStand, boolean untouched) {
        if (readersStand) {
            readersStand();
        }
        othersGoOn();
        handlesStand();
        keepViews();
        buildersGoOn(untouched);
        contentStands("after the builders went on");
        end();
        closedHandlesThrow();
        staleViews();
        allIsBack();
    }

    /// What other threads do with the scene's buffers, in the middle of a call or after it: share, read, close.
    void othersGoOn() {
        List<Watched> open = List.copyOf(scene.watched);
        String outcome = Bystander.run(
                () -> {
                    for (Watched one : open) {
                        bystand(one.handle(), one.content());
                        bystand(one.sibling(), one.content());
                    }
                },
                patience);
        if (outcome != null) {
            violated.accept(outcome.startsWith("waits") ? Promise.LOCK_FREE : Promise.PUBLISHED, outcome);
        }
    }

    private static void bystand(@Nullable SealedBuffer handle, byte[] content) {
        if (handle == null) {
            return;
        }
        try (SealedBuffer share = handle.share()) {
            int at = different(share.iovec(), content);
            if (at >= 0) {
                throw new AssertionError("another thread reads other bytes: offset=" + at);
            }
        } catch (ReleasedBufferException closed) {
            // the operation may have closed it
        }
    }

    private void handlesStand() {
        for (Watched one : scene.watched) {
            SealedBuffer sibling = one.sibling();
            if (sibling != null) {
                if (!sibling.isOpen()) {
                    violated.accept(Promise.A_HANDLE_PER_HOLDER, "another holder's handle is closed: " + sibling);
                    continue;
                }
                long holders = sibling.holders();
                if (holders < (one.handle().isOpen() ? 2 : 1)) {
                    violated.accept(
                            Promise.A_HANDLE_PER_HOLDER,
                            "a holder was robbed: holders=" + holders + " " + one.handle());
                    continue;
                }
                if (!endsOneHandle(sibling)) {
                    violated.accept(
                            Promise.A_HANDLE_PER_HOLDER,
                            "a second close ended another handle: holders=" + holders + " now=" + sibling.holders());
                }
            }
        }
        contentStands("after the operation");
    }

    /// Whether closing a handle twice ends it alone. A thread of the operation may end its own handle meanwhile,
    /// which happens less often than there are holders; a close that robs one does so each time.
    private static boolean endsOneHandle(SealedBuffer sibling) {
        for (long tries = sibling.holders(); tries > 0; tries--) {
            long before = sibling.holders();
            SealedBuffer extra = sibling.share();
            extra.close();
            extra.close();
            if (sibling.isOpen() && sibling.holders() == before) {
                return true;
            }
        }
        return false;
    }

    private void contentStands(String when) {
        for (Watched one : scene.watched) {
            SealedBuffer handle = one.sibling() == null ? one.handle() : one.sibling();
            if (handle.isOpen()) {
                int at = different(handle.iovec(), one.content());
                if (at >= 0) {
                    violated.accept(
                            Promise.IMMUTABLE, "sealed bytes changed " + when + ": offset=" + at + " " + handle);
                }
            }
        }
    }

    private void readersStand() {
        for (Read one : scene.read) {
            long now = one.position().getAsLong();
            if (now != one.before()) {
                violated.accept(Promise.TRANSACTIONAL, "reader moved: position=" + now + " before=" + one.before());
            }
        }
    }

    /// Carves new neighbours, then writes on: what a builder wrongly believes to own would overwrite them.
    private void buildersGoOn(boolean untouched) {
        for (int i = 0; i < 3 && !scene.sourceClosed; i++) {
            byte[] content = FaultScene.bytes(64 + i * 100, 17 + i);
            scene.watch(scene.sealed(content), content);
        }
        for (Written one : scene.written) {
            byte[] expected = untouched ? null : one.content();
            try {
                goOn(one.builder(), expected);
            } catch (IllegalStateException over) {
                if (!isByName(over)) {
                    violated.accept(Promise.TRANSACTIONAL, "builder is over by no name: " + over);
                }
            } catch (Throwable wrong) {
                violated.accept(Promise.TRANSACTIONAL, "builder fails in its own way: " + wrong);
            }
        }
    }

    private void goOn(BufferBuilder builder, byte @Nullable [] expected) {
        long before = builder.byteSize();
        byte[] trailer = new byte[TRAILER];
        Arrays.fill(trailer, (byte) 0xee);
        builder.putInt(0xeeeeeeee);
        builder.put(trailer);
        if (expected == null || !isAsBefore(before, expected)) {
            return;
        }
        compare(builder, before, expected.length <= before ? expected : Arrays.copyOf(expected, (int) before));
    }

    private void compare(BufferBuilder builder, long before, byte[] expected) {
        try (SealedBuffer sealed = builder.seal()) {
            byte[] all = Arrays.copyOf(expected, (int) before + Integer.BYTES + TRAILER);
            byte[] bytes = bytesOf(sealed.iovec());
            // a part that may stay is whatever it is
            System.arraycopy(bytes, expected.length, all, expected.length, (int) before - expected.length);
            Arrays.fill(all, (int) before, all.length, (byte) 0xee);
            int at = Arrays.mismatch(bytes, all);
            if (at >= 0) {
                violated.accept(
                        Promise.TRANSACTIONAL,
                        "builder lost what was written: offset=" + at + " before=" + expected.length);
            }
        }
    }

    private boolean isAsBefore(long now, byte[] expected) {
        boolean isDone = now == scene.mayEndAt;
        boolean asBefore = isDone || (scene.mayKeepPart ? now >= expected.length : now == expected.length);
        if (!asBefore) {
            violated.accept(
                    Promise.TRANSACTIONAL, "builder is not as before: byteSize=" + now + " before=" + expected.length);
        }
        return asBefore;
    }

    private void keepViews() {
        for (Watched one : scene.watched) {
            if (one.handle().isOpen()) {
                views.put(one.handle().iovec(), one.content());
            }
        }
    }

    private void end() {
        List<AutoCloseable> all = new ArrayList<>(scene.owned);
        scene.written.forEach(one -> all.add(one.builder()));
        for (Watched one : scene.watched) {
            all.add(one.handle());
            if (one.sibling() != null) {
                all.add(one.sibling());
            }
        }
        all.addAll(scene.ownedLast);
        for (AutoCloseable one : all) {
            try {
                one.close();
            } catch (Throwable failure) {
                violated.accept(Promise.ACCOUNTABLE, "close fails without a fault: " + failure);
            }
        }
    }

    private void closedHandlesThrow() {
        for (Watched one : scene.watched) {
            expectReleased("byteSize", one.handle()::byteSize);
            expectReleased("iovec", one.handle()::iovec);
            expectReleased("share", one.handle()::share);
        }
    }

    private void expectReleased(String what, Runnable use) {
        try {
            use.run();
            violated.accept(Promise.USE_AFTER_CLOSE, "a closed handle is served: call=" + what);
        } catch (ReleasedBufferException expected) {
            // as promised
        } catch (Throwable other) {
            violated.accept(Promise.USE_AFTER_CLOSE, "a closed handle fails otherwise: call=" + what + " " + other);
        }
    }

    private void staleViews() {
        if (scene.memory == Memory.POISONING) {
            // whose stale views show the poison, which is what it is for
            return;
        }
        // the JVM may leave a thread interrupted that reads what another one closes: docs/misuse.md
        boolean interrupted = Thread.interrupted();
        views.forEach((view, content) -> {
            try {
                int at = different(view, content);
                if (at >= 0) {
                    violated.accept(Promise.USE_AFTER_CLOSE, "a stale view shows other bytes: offset=" + at);
                }
            } catch (IllegalStateException expected) {
                // as promised
            }
        });
        Thread.interrupted();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void allIsBack() {
        expect("handles open", 0, scene.tally.open());
        expect("handles listed", 0, scene.ledger.open().size());
        expect("regions taken", 0, scene.source.regionsTaken());
        expect("regions misused", 0, scene.source.misused());
        expect("bytes adopted", scene.adoptedBefore, MemoryBudget.adopted());
        scene.owed.forEach((what, found) -> expect(what, 0, found.getAsLong()));
        scene.releases.forEach(
                one -> expect("calls of onRelease", 1, one.calls().get()));
        if (scene.budget.peak() > scene.budget.limit()) {
            violated.accept(Promise.CHECKED_BEFORE_TAKEN, "budget exceeded: peak=" + scene.budget.peak());
        }
        ArenaSource arena = scene.arena;
        if (arena != null) {
            endArena(arena);
        }
    }

    private void endArena(ArenaSource arena) {
        if (isKnownLost) {
            // waiting would not bring it back
            arena.close();
            return;
        }
        try {
            arena.close(patience);
        } catch (Exception failure) {
            violated.accept(Promise.ACCOUNTABLE, "source does not end: " + failure);
        }
        expect("bytes booked", 0, scene.budget.used());
        expect("late writes", 0, arena.lateWrites());
    }

    private void expect(String what, long wanted, long found) {
        if (wanted != found) {
            isKnownLost = true;
            violated.accept(Promise.ACCOUNTABLE, what + ": wanted=" + wanted + " found=" + found);
        }
    }

    /// Whether an exception says that something is over, as the misuse table has it.
    static boolean isByName(Throwable failure) {
        return failure instanceof IllegalStateException
                && failure.getMessage() != null
                && OVER.matcher(failure.getMessage()).find();
    }

    /// Whether an exception says that something is over, or was changed, by what was called back.
    static boolean isOver(Throwable failure) {
        return isByName(failure)
                || failure instanceof IllegalStateException
                        && failure.getMessage() != null
                        && REFUSED.matcher(failure.getMessage()).find();
    }

    private static int different(IoVec bytes, byte[] content) {
        return Arrays.mismatch(bytesOf(bytes), content);
    }

    /// Read by an edge's way, which the tally of copies does not count.
    static byte[] bytesOf(IoVec bytes) {
        byte[] copy = new byte[Math.toIntExact(bytes.byteSize())];
        int at = 0;
        for (int i = 0; i < bytes.regionCount(); i++) {
            MemorySegment region = bytes.region(i);
            MemorySegment.copy(region, 0, MemorySegment.ofArray(copy), at, region.byteSize());
            at += (int) region.byteSize();
        }
        return copy;
    }
}
