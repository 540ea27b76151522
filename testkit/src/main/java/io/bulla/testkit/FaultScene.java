// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.RecordWriter;
import io.bulla.buffer.Safety;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Unpacker;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The world of one step of a [FaultRun]: memory whose every call may fail, listeners that may fail, and the
/// buffers, builders and readers that the promises are checked on afterwards.
///
/// An operation takes what it needs from here, so that the scene knows it. All of it is ended by the scene.
public final class FaultScene {

    /// Which source lies under the faults.
    public enum Memory {
        /// An [ArenaSource] as it is by default.
        ARENA,
        /// An [ArenaSource] of [Safety#CHECKED].
        CHECKED,
        /// A [PoisoningSource]: regions that never grow, at odd addresses.
        POISONING
    }

    private static final long LIMIT = 64 << 20;
    private static final int CHUNK = 64 << 10;
    private static final int MANY = 16 + 1024 + 4096;
    private static final long MAY_TAKE = 4 << 20;

    /// A handle, what its bytes are, and another handle on them, or `null`.
    record Watched(SealedBuffer handle, @Nullable SealedBuffer sibling, byte[] content) {}

    /// A builder and what was written to it.
    record Written(BufferBuilder builder, byte[] content) {}

    /// A reader and where it stood.
    record Read(LongSupplier position, long before) {}

    /// A step of a scene's own, by its name in the report.
    record NamedStep(String name, Runnable step) {}

    /// What `onRelease` was handed out for.
    record Release(AtomicInteger calls) {}

    final Memory memory;
    final MemoryBudget budget = new MemoryBudget(LIMIT);
    final LeaseTally tally = new LeaseTally();
    final LeaseLedger ledger = LeaseLedger.full().withCloses();
    final List<Watched> watched = new ArrayList<>();
    final List<Written> written = new ArrayList<>();
    final List<Read> read = new ArrayList<>();
    final List<Release> releases = new ArrayList<>();
    final List<AutoCloseable> owned = new ArrayList<>();
    final List<AutoCloseable> ownedLast = new ArrayList<>();
    final Map<String, LongSupplier> owed = new LinkedHashMap<>();
    final List<NamedStep> ownCallBacks = new ArrayList<>();
    final long adoptedBefore = MemoryBudget.adopted();
    final @Nullable ArenaSource arena;
    final Watched sentinel;
    final FaultPoints points = new FaultPoints();
    final FaultySource source;
    private final LeaseTrace trace;
    boolean noCopy;
    boolean mayKeepPart;
    boolean onlyOnce;
    boolean mayVary;
    boolean sourceClosed;
    int mayEndAt = -1;
    long mayTake = MAY_TAKE;

    FaultScene(Memory memory) {
        this.memory = memory;
        this.trace = LeaseTrace.both(ledger, new FaultyTrace(points, tally));
        this.arena = memory == Memory.POISONING ? null : arena(memory);
        this.source = new FaultySource(points, arena == null ? new PoisoningSource(null) : arena, trace);
        this.sentinel = watch(sealed(bytes(100, 7)), bytes(100, 7), true);
    }

    private ArenaSource arena(Memory memory) {
        Safety safety = memory == Memory.CHECKED ? Safety.CHECKED : Safety.FAST;
        return ArenaSource.builder()
                .budget(budget)
                .chunkBytes(CHUNK)
                .safety(safety)
                .trace(ledger)
                .build();
    }

    /// The fault points, for doubles of the operation's own.
    ///
    /// @return the same each time
    public FaultPoints points() {
        return points;
    }

    /// Memory, each of whose calls is a fault point.
    ///
    /// @return the same each time
    public FaultySource source() {
        return source;
    }

    /// Listeners, told of every handle on [#source()]; each call is a fault point.
    ///
    /// @return the same each time
    public LeaseTrace trace() {
        return trace;
    }

    /// A buffer of so many bytes in one region, watched; another handle on it stays open.
    ///
    /// @param bytes at least 0
    /// @return a handle that the operation may close
    public SealedBuffer buffer(int bytes) {
        return watch(sealed(bytes(bytes, 1)), bytes(bytes, 1), true).handle();
    }

    /// A buffer of three regions, watched, whose only handle this is.
    ///
    /// @return a handle that the operation may close
    public SealedBuffer lastHandle() {
        byte[] content = bytes(MANY, 3);
        return watch(manyRegions(content).seal(), content, false).handle();
    }

    /// A builder with so many bytes and no room behind them, so that the next write needs memory; watched.
    ///
    /// @param bytes at least 0
    /// @return a builder that the operation may seal or close
    public BufferBuilder builder(int bytes) {
        byte[] content = bytes(bytes, 5);
        BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, bytes));
        builder.put(content);
        return watch(builder, content);
    }

    /// A builder with so many bytes and as many free behind them; watched.
    ///
    /// @param bytes at least 1
    /// @return a builder that the operation may seal or close
    public BufferBuilder builderWithRoom(int bytes) {
        byte[] content = bytes(bytes, 11);
        return watch(BufferBuilder.ofCapacity(source, 2L * bytes).put(content), content);
    }

    /// A builder of three regions, the last one full; watched.
    ///
    /// @return a builder that the operation may seal or close
    public BufferBuilder builderOfManyRegions() {
        byte[] content = bytes(MANY, 9);
        return watch(manyRegions(content), content);
    }

    /// Watches a builder.
    ///
    /// @param builder on [#source()]
    /// @param content its bytes
    /// @return the builder
    public BufferBuilder watch(BufferBuilder builder, byte[] content) {
        written.add(new Written(builder, content));
        return builder;
    }

    /// Watches a buffer.
    ///
    /// @param handle closed by the scene
    /// @param content its bytes
    /// @return the handle
    public SealedBuffer watch(SealedBuffer handle, byte[] content) {
        return watch(handle, content, true).handle();
    }

    /// Watches a reader: it must stay where it is when the operation fails.
    ///
    /// @param unpacker over a buffer of the scene
    /// @return the unpacker
    public Unpacker watch(Unpacker unpacker) {
        read.add(new Read(unpacker::position, unpacker.position()));
        return unpacker;
    }

    /// Watches a reader, as [#watch(Unpacker)].
    ///
    /// @param reader over a buffer of the scene
    /// @return the reader
    public BufferReader watch(BufferReader reader) {
        read.add(new Read(reader::position, reader.position()));
        return reader;
    }

    /// A fault point that has to be called exactly once before the scene ends: for adopted memory.
    ///
    /// @return to be handed to the owner of memory
    public Runnable onRelease() {
        Release release = new Release(new AtomicInteger());
        releases.add(release);
        return () -> {
            release.calls().incrementAndGet();
            points.reach("onRelease, done");
        };
    }

    /// Has the scene close what the operation returned or needs: a closeable, or an array, a list or an
    /// `Optional` of them; anything else is left alone.
    ///
    /// @param result of the operation
    /// @param <T> its type
    /// @return the result
    public <T extends @Nullable Object> T own(T result) {
        switch (result) {
            case AutoCloseable one -> owned.add(one);
            case Object[] several -> Arrays.asList(several).forEach(this::own);
            case List<?> several -> several.forEach(this::own);
            case Optional<?> maybe -> maybe.ifPresent(this::own);
            // its builder refuses all else until then
            case RecordWriter record ->
                record.put(bytes(record.remaining(), 3), 0, record.remaining()).end();
            case null, default -> {}
        }
        return result;
    }

    /// Has the scene close what its buffers and builders lie in, behind them.
    ///
    /// @param source of the operation's own
    public void ownLast(AutoCloseable source) {
        ownedLast.add(source);
    }

    /// Something that has to be none once everything is closed.
    ///
    /// @param what for the report
    /// @param left how much is left, 0 if nothing is
    public void owed(String what, LongSupplier left) {
        owed.put(what, left);
    }

    /// One more thing that a foreign call may call back, beside those of every scene: [FaultRun#callingBack()].
    ///
    /// @param name for the report
    /// @param step a call of something that the operation uses; it may be refused by name
    public void callBack(String name, Runnable step) {
        ownCallBacks.add(new NamedStep(name, step));
    }

    /// The operation may not copy a byte.
    public void noCopy() {
        noCopy = true;
    }

    /// A failed write may leave its first values: its contract says so.
    public void mayKeepPart() {
        mayKeepPart = true;
    }

    /// A failed operation may be done, and leave its builder at so many bytes: if what failed is the giving back of
    /// memory, which nothing can undo.
    ///
    /// @param bytes what it leaves when nothing fails
    public void mayEndAt(int bytes) {
        mayEndAt = bytes;
    }

    /// The operation's result is an address, a time or a thread's: not to be compared.
    public void mayVary() {
        mayVary = true;
    }

    /// The operation may not be repeated, even after it failed: its contract says that it is called once.
    public void onlyOnce() {
        onlyOnce = true;
    }

    /// The most that the operation may take, from the heap and from the source each.
    ///
    /// @param bytes 4 MiB unless set
    public void mayTake(long bytes) {
        mayTake = bytes;
    }

    /// The bytes that the scene's buffers hold.
    ///
    /// @param count how many
    /// @param seed which ones
    /// @return a fresh array
    public static byte[] bytes(int count, int seed) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (i * 31 + seed);
        }
        return bytes;
    }

    SealedBuffer sealed(byte[] content) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, content.length))) {
            return builder.put(content).seal();
        }
    }

    /// Regions of 16, 1024 and 4096 bytes, all of them full.
    private BufferBuilder manyRegions(byte[] content) {
        // regions that never grow
        BufferBuilder builder = BufferBuilder.ofCapacity(new StingySource(source, Integer.MAX_VALUE), 16);
        int done = 0;
        for (int part : new int[] {16, 1, 1023, 1, content.length - 1041}) {
            builder.put(content, done, part);
            done += part;
        }
        return builder;
    }

    /// Watches the buffers of a result, as they are: alone, or in an array, a list or an `Optional`.
    void watchAll(@Nullable Object result) {
        switch (result) {
            case SealedBuffer buffer
            when buffer.isOpen() && watched.stream().noneMatch(one -> one.handle() == buffer) ->
                watch(buffer, NinePromises.bytesOf(buffer.iovec()), false);
            case Object[] several -> Arrays.asList(several).forEach(this::watchAll);
            case List<?> several -> several.forEach(this::watchAll);
            case Optional<?> maybe -> maybe.ifPresent(this::watchAll);
            case null, default -> {}
        }
    }

    private Watched watch(SealedBuffer handle, byte[] content, boolean withSibling) {
        Watched one = new Watched(handle, withSibling ? handle.share() : null, content);
        watched.add(one);
        return one;
    }
}
