// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import io.bulla.refcount.internal.Live;
import io.bulla.refcount.internal.TagText;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A list of open leases, each with its tag, age and size, and on request with the stack that took it. A ledger
/// lists all leases or a sample.
///
/// ```java
/// import io.bulla.buffer.*;
/// import io.bulla.refcount.LeaseLedger;
///
/// void main() {
///     LeaseLedger ledger = LeaseLedger.full();
///     try (ArenaSource memory = ArenaSource.builder().trace(ledger).build();
///             BufferBuilder builder = BufferBuilder.create(memory);
///             SealedBuffer message = builder.putInt(1).seal("me")) {
///         SealedBuffer send = message.share("send to rank 17");
///         ledger.open().forEach(holder -> IO.println(holder.tag() + " holds " + holder.size() + " bytes"));
///         send.close();
///     }
///     IO.println(ledger.open());
/// }
/// ```
///
/// ```text
/// me holds 8 bytes
/// send to rank 17 holds 8 bytes
/// []
/// ```
///
/// A ledger also *heals*: if the garbage collector finds a lease that was never closed, the ledger gives its claim
/// back and reports it. It heals only leases in the ledger, and only when nothing refers to the lease any more. A
/// view without a reference to its lease does not prevent that.
///
/// Opening and closing stay lock-free. A lease in the ledger costs about 0.1 microseconds and 200 bytes, its stack
/// 1 to 5 microseconds more. A lease outside the sample costs one random number.
public final class LeaseLedger implements LeaseTrace {

    // volatile: a number of one's own needs the atomic step alone
    private static final AtomicLong IDS = new AtomicLong();

    private final ConcurrentSkipListMap<Long, Held> open = new ConcurrentSkipListMap<>();
    private final LongAdder healed = new LongAdder();
    private final int oneIn;
    private final boolean stacks;
    private final Consumer<Holder> onLeak;
    private final @Nullable Map<Lease, Throwable> closes;

    private LeaseLedger(int oneIn, boolean stacks, Consumer<Holder> onLeak, boolean remembersCloses) {
        this.oneIn = oneIn;
        this.stacks = stacks;
        this.onLeak = onLeak;
        this.closes = remembersCloses ? Collections.synchronizedMap(new WeakHashMap<>()) : null;
        Live.put("ledger", LeaseLedger.class, this, ledger -> List.of(ledger.summary()));
    }

    /// A ledger of every lease.
    ///
    /// @return an empty ledger, without stacks
    public static LeaseLedger full() {
        return sampled(1);
    }

    /// A ledger of one lease in `oneIn`, chosen at random.
    ///
    /// @param oneIn at least 1
    /// @return an empty ledger, without stacks
    /// @throws IllegalArgumentException if `oneIn` is less than 1
    public static LeaseLedger sampled(int oneIn) {
        if (oneIn < 1) {
            throw new IllegalArgumentException("one lease in how many: oneIn=" + oneIn);
        }
        return new LeaseLedger(oneIn, false, LeaseLedger::warn, false);
    }

    /// The same, with the stack that took each lease.
    ///
    /// @return an empty ledger
    public LeaseLedger withStacks() {
        return new LeaseLedger(oneIn, true, onLeak, closes != null);
    }

    /// The same, which remembers where a lease was closed as long as it is reachable, so that the
    /// error of a use after close says who closed it. It takes a lock at each close: for finding a fault, not
    /// for service.
    ///
    /// @return an empty ledger
    public LeaseLedger withCloses() {
        return new LeaseLedger(oneIn, stacks, onLeak, true);
    }

    /// The same, which tells `onLeak` of each lease that was healed, instead of logging a warning.
    ///
    /// @param onLeak called by the ledger's own thread; must not block
    /// @return an empty ledger
    public LeaseLedger onLeak(Consumer<Holder> onLeak) {
        return new LeaseLedger(oneIn, stacks, onLeak, closes != null);
    }

    /// One open lease.
    ///
    /// @param tag as given when it was opened, or `null`
    /// @param age since it was opened
    /// @param size what it keeps alive, in the resource's unit (bytes for memory)
    /// @param takenAt the stack that opened it, from the caller of the lease's own code on; empty if not asked for
    public record Holder(@Nullable Object tag, Duration age, long size, List<StackTraceElement> takenAt) {

        @Override
        public String toString() {
            return "tag=" + tag + " age=" + age.toMillis() + "ms size=" + size
                    + (takenAt.isEmpty() ? "" : " takenAt=" + takenAt.getFirst());
        }
    }

    /// The open leases, oldest first: a snapshot.
    ///
    /// @return a list of its own
    public List<Holder> open() {
        return open.values().stream().filter(Held::isListed).map(Held::describe).toList();
    }

    /// The lease that is open for the longest time.
    ///
    /// @return nothing if none is open
    public Optional<Holder> oldest() {
        return open.values().stream().filter(Held::isListed).findFirst().map(Held::describe);
    }

    /// Entries of the list: as many as are open, and those that could not be taken off while the heap was full.
    int entries() {
        return open.size();
    }

    /// Leases that were collected unclosed, and healed.
    ///
    /// @return a number that only grows
    public long healed() {
        return healed.sum();
    }

    @Override
    public @Nullable Object opened(Lease lease, RefCount count, @Nullable Object tag) {
        if (oneIn > 1 && ThreadLocalRandom.current().nextInt(oneIn) != 0) {
            return null;
        }
        Held held = new Held(lease, this, count, tag, stacks ? new Throwable("lease taken here") : null);
        try {
            open.put(held.id, held);
        } catch (OutOfMemoryError e) {
            // perhaps it is in already; the lease will never be, and must not be released for
            held.isTaken();
            open.remove(held.id);
            throw e;
        }
        return held;
    }

    @Override
    public void closed(Lease lease, Object traced) {
        Held held = (Held) traced;
        held.isTaken();
        open.remove(held.id);
        held.clear();
        if (closes != null) {
            closes.put(
                    lease,
                    new Throwable(
                            "lease closed here, by " + Thread.currentThread().getName()));
        }
    }

    /// Another ledger on the same count heals it.
    @Override
    public void lost(Object traced) {
        Held held = (Held) traced;
        held.isTaken();
        open.remove(held.id);
    }

    @Override
    public @Nullable Throwable closedBy(Lease lease) {
        return closes == null ? null : closes.get(lease);
    }

    /// The five tags that hold most, with their handles, size and greatest age.
    @Override
    public String summary() {
        record Sum(long handles, long size, long ageMillis) {
            Sum with(Holder one) {
                return new Sum(handles + 1, size + one.size, Math.max(ageMillis, one.age.toMillis()));
            }
        }
        Map<String, Sum> byTag = new HashMap<>();
        for (Holder one : open()) {
            byTag.merge(
                    one.tag == null ? "null" : TagText.of(one.tag),
                    new Sum(0, 0, 0).with(one),
                    (sum, first) -> sum.with(one));
        }
        return byTag.entrySet().stream()
                .sorted(Comparator.comparingLong(tag -> -tag.getValue().size))
                .limit(5)
                .map(tag -> tag.getKey() + ": handles=" + tag.getValue().handles + " size=" + tag.getValue().size
                        + " oldest=" + tag.getValue().ageMillis + "ms")
                .collect(Collectors.joining("; "));
    }

    /// The [#summary()].
    @Override
    public String toString() {
        return "LeaseLedger[" + summary() + "]";
    }

    /// Gives back the claim of a lease that was collected, unless it has ended already.
    ///
    /// @param collected a reference of this class's own, out of the healer's queue
    static void heal(Reference<? extends Lease> collected) {
        Held held = (Held) collected;
        if (held.isTaken()) {
            held.ledger.heal(held);
        } else {
            // closed, but there was no heap to take it off the list
            held.ledger.open.remove(held.id);
        }
    }

    private void heal(Held held) {
        Holder lost;
        try {
            lost = held.describe();
        } finally {
            end(held);
        }
        onLeak.accept(lost);
    }

    /// Whatever fails, the listeners are told, as in a close, before the claim is given back; and it is listed no
    /// more.
    private void end(Held held) {
        try {
            held.tellLost();
        } finally {
            open.remove(held.id);
            giveBack(held.count);
        }
    }

    private void giveBack(RefCount count) {
        try {
            count.release();
        } finally {
            healed.increment();
        }
    }

    private static void warn(Holder lost) {
        System.getLogger("io.bulla.refcount")
                .log(System.Logger.Level.WARNING, () -> "lease collected unclosed, healed: " + lost);
    }

    /// A lease that is open, seen without keeping it reachable.
    ///
    /// ```
    /// open --closed, lost, heal--> taken      by the first of them; taken is final
    /// ```
    private static final class Held extends PhantomReference<Lease> implements Traced {

        private static final VarHandle TAKEN;

        static {
            try {
                TAKEN = MethodHandles.lookup().findVarHandle(Held.class, "taken", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        // an object from the start, so that taking it off the list needs no heap
        private final Long id = IDS.getAndIncrement();
        private final long openedAt = System.nanoTime();
        private final LeaseLedger ledger;
        private final RefCount count;
        private final @Nullable Object tag;
        private final Class<?> type;
        private final @Nullable Throwable takenAt;
        // plain: written before the lease can be collected, read by the healer after it was
        private @Nullable Object keptAs;
        // through TAKEN only
        private boolean taken;

        Held(Lease lease, LeaseLedger ledger, RefCount count, @Nullable Object tag, @Nullable Throwable takenAt) {
            super(lease, Healer.SHARED.queue());
            this.ledger = ledger;
            this.count = count;
            this.tag = tag;
            this.type = lease.getClass();
            this.takenAt = takenAt;
        }

        /// Whether it is open, as far as is known: one that is closed stays in the list if there is no heap to take
        /// it off.
        boolean isListed() {
            // opaque: for a report; taken is final
            return !(boolean) TAKEN.getOpaque(this);
        }

        @Override
        public void keptAs(Object traced) {
            keptAs = traced;
        }

        /// Tells every listener on the count, this ledger too; none if another listener hides it from
        /// them.
        void tellLost() {
            Object kept = keptAs;
            if (kept != null) {
                count.listener().lost(kept);
            }
        }

        /// Takes it out of the ledger's care: true for one caller.
        boolean isTaken() {
            // volatile: one of close, loss and healing wins; nothing else hangs on its order
            return TAKEN.compareAndSet(this, false, true);
        }

        Holder describe() {
            return new Holder(
                    tag,
                    Duration.ofNanos(System.nanoTime() - openedAt),
                    count.size(),
                    takenAt == null ? List.of() : TakenAt.callers(takenAt.getStackTrace(), type));
        }
    }
}
