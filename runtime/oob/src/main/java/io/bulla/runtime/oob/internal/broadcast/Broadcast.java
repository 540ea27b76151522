// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One broadcast at one node: the bytes that have landed, whom it was handed on to, and who waits to hear that
/// all below have it.
///
/// ```
/// landing --last fragment--> whole --every child has confirmed or failed--> done: confirmed upwards, bytes let go
///    |
///    +-- no parent sends the rest: given up; the children skip it. A parent that has finished a copy of another
///        length is asked for that one again
/// ```
///
/// One event loop's.
public final class Broadcast {

    // parts of a piece, mostly
    private static final int FEW = 4;

    /// What is said upwards: nodes that have it, this one included, and ranks that failed.
    public record Outcome(int reached, List<Integer> failed) {}

    final BroadcastKey key;
    final int tag;
    final SendOptions options;
    /// Whether it ends with its origin's signature.
    final boolean signed;
    /// With the signature.
    final long total;
    /// At the origin, else `null`.
    final @Nullable CompletableFuture<BroadcastResult> result;

    final long started;
    /// Children that have not confirmed, with what is sent to them; nothing, if it gave way to others.
    final Map<Integer, Optional<ChildSend>> waiting = new HashMap<>();
    final Set<Integer> parents = new HashSet<>();
    /// Parents that have finished it with another length, by the last frame of each: they wait for an answer.
    final Map<Integer, Frame> differing = new HashMap<>();

    final BroadcastCharge charge = new BroadcastCharge();
    /// Loop time of the last byte that landed.
    long landedAt;
    private long differsSince;
    private final Set<Integer> asked = new HashSet<>();
    private final SortedSet<Integer> failed = new TreeSet<>();
    private final ArrayList<SealedBuffer> parts = new ArrayList<>();
    // where each of them begins
    private long[] starts = new long[1];
    private long landed;
    private int reached;
    private boolean over;
    boolean handedOn;
    /// Until it is known whether it is its origin's.
    boolean checking;
    /// It is not its origin's.
    boolean refused;

    public Broadcast(
            BroadcastKey key,
            int tag,
            SendOptions options,
            boolean signed,
            long total,
            @Nullable CompletableFuture<BroadcastResult> result,
            long now) {
        this.started = now;
        this.key = key;
        this.tag = tag;
        this.options = options;
        this.signed = signed;
        this.total = total;
        this.result = result;
        this.reached = result == null ? 1 : 0;
    }

    /// Takes in what is new of a fragment, and ownership of it: if there is a gap before it, nothing is.
    ///
    /// @return false if nothing was new
    public boolean land(long offset, SealedBuffer fragment) {
        long end = offset + fragment.byteSize();
        if (offset > landed) {
            fragment.close();
            return false;
        }
        if (end <= landed && total > 0 || !parts.isEmpty() && total == 0) {
            fragment.close();
            return false;
        }
        try {
            parts.ensureCapacity(parts.size() + 1);
            if (parts.size() == starts.length) {
                starts = Arrays.copyOf(starts, 2 * starts.length);
            }
        } catch (OutOfMemoryError noHeap) {
            fragment.close();
            throw noHeap;
        }
        if (offset == landed) {
            parts.add(fragment);
        } else {
            try (fragment) {
                parts.add(fragment.slice(landed - offset, end - landed));
            }
        }
        starts[parts.size() - 1] = landed;
        landed = end;
        return true;
    }

    /// A parent has finished it with another length.
    void differs(int parent, Frame last, long loopTime) {
        if (differing.isEmpty()) {
            differsSince = loopTime;
        }
        differing.put(parent, last);
    }

    /// Loop time from which on it may be given up, if it does not become whole: while a parent that has finished
    /// waits, no other wins time by a byte now and then.
    long waitsSince() {
        return differing.isEmpty() ? landedAt : Math.min(landedAt, differsSince);
    }

    /// Whether no parent sends the rest.
    boolean isAbandoned() {
        return result == null && !isWhole() && parents.isEmpty();
    }

    public boolean isWhole() {
        return landed == total && !parts.isEmpty();
    }

    long landed() {
        return landed;
    }

    /// All bytes, in a handle of the caller's.
    public SealedBuffer whole() {
        return parts.size() == 1 ? parts.getFirst().share() : SealedBuffer.concat(parts.toArray(SealedBuffer[]::new));
    }

    /// Whether enough has landed from `offset` on for a fragment.
    public boolean has(long offset, int most) {
        long length = Math.min(most, landed - offset);
        return length >= Frame.MIN_FRAGMENT || offset + length == total;
    }

    /// The next piece to be sent on, in a handle of the caller's; to be asked for only if there is enough. It
    /// ends where a part does, so that most are shares of one part.
    public SealedBuffer piece(long offset, int most) {
        long length = Math.min(most, landed - offset);
        List<SealedBuffer> slices = new ArrayList<>(FEW);
        SealedBuffer piece;
        try {
            addSlices(slices, offset, length);
            if (slices.size() == 1) {
                return slices.getFirst();
            }
            piece = SealedBuffer.concat(slices.toArray(SealedBuffer[]::new));
        } catch (RuntimeException | Error failure) {
            Failures.closeAll(slices, failure);
            throw failure;
        }
        // the piece has handles of its own
        Throwable failure = Failures.closeAll(slices, null);
        if (failure != null) {
            Failures.rethrow(Failures.close(piece, failure));
        }
        return piece;
    }

    private void addSlices(List<SealedBuffer> slices, long offset, long length) {
        // not from the first one on: a message has as many as its origin likes, and as many pieces
        int found = Arrays.binarySearch(starts, 0, parts.size(), offset);
        long from = offset;
        for (int i = found < 0 ? -found - 2 : found; i < parts.size() && from - offset < length; i++) {
            SealedBuffer part = parts.get(i);
            long take = Math.min(starts[i] + part.byteSize() - from, length - (from - offset));
            add(slices, part.slice(from - starts[i], take));
            from += take;
            if (from - offset >= Frame.MIN_FRAGMENT || from == total) {
                break;
            }
        }
    }

    private static void add(List<SealedBuffer> slices, SealedBuffer slice) {
        boolean added = false;
        try {
            added = slices.add(slice);
        } finally {
            if (!added) {
                slice.close();
            }
        }
    }

    /// @return true the first time
    boolean ask(int child) {
        return asked.add(child);
    }

    void failed(int rank) {
        failed.add(rank);
    }

    void confirmed(int count, List<Integer> failedBelow) {
        reached += count;
        failed.addAll(failedBelow);
    }

    Outcome outcome() {
        return new Outcome(reached, List.copyOf(failed));
    }

    /// It is not its origin's: the handler does not get it, and another of the same number may be.
    void refuse(int rank) {
        refused = true;
        missed(rank);
    }

    /// This node's own handler does not get it.
    void missed(int rank) {
        reached--;
        failed.add(rank);
    }

    /// Whether the bytes are gone.
    boolean isOver() {
        return over;
    }

    /// The bytes may go; again is harmless.
    ///
    /// @param close for each handle, which must not throw
    public void letGo(Consumer<SealedBuffer> close) {
        parts.forEach(close);
        parts.clear();
        if (!over) {
            over = true;
            charge.release();
        }
    }
}
