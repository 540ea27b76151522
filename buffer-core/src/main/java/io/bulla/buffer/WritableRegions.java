// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.iovec.Generation;
import io.bulla.iovec.IoVec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/// The regions that a builder writes to, in order: where the next byte goes, and what happens when there is no
/// room for it.
///
/// ```
///  earlier                             region
///  [ used ....... ][ used ... |      ][ used .... |  capacity ]
///  0               before of the 2nd  before       before + used = bytes written
/// ```
///
/// The builder's puts use these fields in place, since a field of another object would cost a load per put.
abstract sealed class WritableRegions permits BufferBuilder {

    static final long FIRST = 256;

    private static final long GROWTH = 4;
    private static final long LARGEST = 1 << 20;
    private static final int MAX_READ = 1 << 20;
    private static final int MAX_ASIDE = 64 << 10;

    private enum State {
        WRITING,
        SEALED,
        ABANDONED
    }

    private record Part(Region region, long start, long used) {}

    private final MemorySource source;
    private State state = State.WRITING;
    private long nextCapacity;
    // the region that is written to: its memory, its bytes used, its size, and how many bytes stand before it
    private Region region;
    MemorySegment memory = MemorySegment.NULL;
    long used;
    long capacity;
    private long before;
    // those before it, null while there is none
    private List<Part> earlier;

    WritableRegions(MemorySource source, long firstCapacity) {
        this.source = Objects.requireNonNull(source, "source");
        this.nextCapacity = firstCapacity;
    }

    final long written() {
        return before + used;
    }

    final String regions() {
        int before = earlier == null ? 0 : earlier.size();
        return "byteSize=" + written() + " " + state.name().toLowerCase(Locale.ROOT) + " regions="
                + (region == null ? before : before + 1) + " room=" + (capacity - used);
    }

    final long reserve(int bytes) {
        ensureRoom(bytes);
        long at = used;
        used = at + bytes;
        return at;
    }

    /// Room for at least one of `count` values, none of which straddles two regions; says for how many.
    final int roomFor(int count, int width) {
        if (capacity - used < width) {
            nextCapacity = Math.max(nextCapacity, Math.min((long) count * width, LARGEST));
            ensureRoom(width);
        }
        return (int) Math.min(count, (capacity - used) / width);
    }

    final void ensureRoom(int bytes) {
        if (capacity - used < bytes) {
            checkWriting();
            grow(bytes);
        }
    }

    interface Step {
        void copy(long done, MemorySegment target, long at, long length);
    }

    /// Writes a run of bytes, region after region; if a step fails, nothing of it stays.
    final void fill(long length, Step step) {
        checkWriting();
        long start = written();
        try {
            for (long done = 0; done < length; ) {
                if (used == capacity) {
                    nextCapacity = Math.max(nextCapacity, Math.min(length - done, LARGEST));
                }
                ensureRoom(1);
                long now = Math.min(length - done, capacity - used);
                step.copy(done, memory, used, now);
                used += now;
                done += now;
            }
        } catch (Throwable failure) {
            dropAfter(start);
            throw failure;
        }
    }

    /// Reads once into the memory itself, or what a stranger could keep into memory of its own.
    final int readOnce(ReadableByteChannel channel, long length) throws IOException {
        ensureRoom(1);
        int step = (int) Math.min(Math.min(length, capacity - used), MAX_READ);
        return isOfTheJdk(channel) ? readInPlace(channel, step) : readAside(channel, Math.min(step, MAX_ASIDE));
    }

    private static boolean isOfTheJdk(ReadableByteChannel channel) {
        // those that scatter call no code of a user's; a channel around a stream does
        return channel instanceof ScatteringByteChannel && channel.getClass().getModule() == Object.class.getModule();
    }

    private int readInPlace(ReadableByteChannel channel, int length) throws IOException {
        int read = channel.read(memory.asSlice(used, length).asByteBuffer());
        used += Math.max(0, read);
        return read;
    }

    private int readAside(ReadableByteChannel channel, int length) throws IOException {
        ByteBuffer aside = ByteBuffer.allocate(length);
        if (channel.read(aside) < 0) {
            return -1;
        }
        // what is there counts, not what the channel says
        int read = aside.position();
        MemorySegment bytes = MemorySegment.ofBuffer(aside.flip());
        fill(read, (done, target, at, step) -> MemorySegment.copy(bytes, done, target, at, step));
        return read;
    }

    final void use(Region now) {
        region = now;
        memory = now.segment();
        capacity = memory.byteSize();
        nextCapacity = Math.min(LARGEST, Math.max(FIRST, capacity) * GROWTH);
    }

    final void dropAfter(long byteSize) {
        checkWriting();
        if (byteSize < 0 || byteSize > written()) {
            throw new IllegalArgumentException("truncate past the end: wanted=" + byteSize + " byteSize=" + written());
        }
        while (byteSize < before) {
            dropLast();
        }
        used = byteSize - before;
    }

    /// The memory of what was written, from `offset` to the end of the region that it lies in: for a sink that changes
    /// what it wrote. Not to be kept across a write.
    final MemorySegment writtenFrom(long offset) {
        IoVec.checkRange("written", offset, 1, checkedSize());
        if (offset >= before) {
            return memory.asSlice(offset - before, used - (offset - before));
        }
        int at = earlier.size() - 1;
        while (earlier.get(at).start() > offset) {
            at--;
        }
        Part part = earlier.get(at);
        long from = offset - part.start();
        return part.region().segment().asSlice(from, part.used() - from);
    }

    /// Bytes written to a builder that still writes.
    final long checkedSize() {
        checkWriting();
        return written();
    }

    /// Ends the writing. Whoever calls publishes what it returns.
    final SealedBuffer sealed() {
        checkWriting();
        // a region without a byte would stay taken as long as the buffer
        while (region != null && used == 0) {
            dropLast();
        }
        SealedBuffer buffer = earlier == null && region != null ? sealOne() : sealMany();
        end(State.SEALED);
        return buffer;
    }

    final void abandon() {
        if (state == State.WRITING) {
            Region[] owned = owned();
            end(State.ABANDONED);
            for (Region each : owned) {
                each.release();
            }
        }
    }

    final void checkWriting() {
        if (state != State.WRITING) {
            throw new IllegalStateException("builder already " + state.name().toLowerCase(Locale.ROOT));
        }
    }

    private void grow(int bytes) {
        if (region != null) {
            Region grown = source.grow(region, Math.max(used + bytes, Math.min(nextCapacity, capacity + LARGEST)));
            if (grown != null) {
                use(grown);
                return;
            }
        }
        Region fresh = source.allocate(Math.max(nextCapacity, bytes));
        if (region != null) {
            if (earlier == null) {
                earlier = new ArrayList<>();
            }
            earlier.add(new Part(region, before, used));
            before += used;
            used = 0;
        }
        use(fresh);
    }

    /// Gives the last region back and returns to the one before it, if there is one.
    private void dropLast() {
        region.release();
        if (earlier == null || earlier.isEmpty()) {
            region = null;
            memory = MemorySegment.NULL;
            capacity = 0;
        } else {
            Part last = earlier.removeLast();
            use(last.region());
            before = last.start();
            used = last.used();
        }
    }

    private SealedBuffer sealOne() {
        IoVec bytes = stamped(IoVec.of(source.seal(region, used)), region);
        FlightEvents.sealed(used, 1);
        return new SealedBuffer(Storage.of(source.trace(), region, FlightEvents.held(used)), bytes);
    }

    private SealedBuffer sealMany() {
        Region[] owned = owned();
        MemorySegment[] sealed = new MemorySegment[owned.length];
        for (int i = 0; i < owned.length; i++) {
            sealed[i] =
                    source.seal(owned[i], i < owned.length - 1 ? earlier.get(i).used() : used);
        }
        IoVec bytes = IoVec.of(sealed);
        for (Region each : owned) {
            bytes = stamped(bytes, each);
        }
        FlightEvents.sealed(written(), owned.length);
        return new SealedBuffer(Storage.of(source.trace(), owned, FlightEvents.held(written())), bytes);
    }

    private static IoVec stamped(IoVec bytes, Region region) {
        Generation stamp = region.generation();
        return stamp == null ? bytes : bytes.stamped(stamp);
    }

    private Region[] owned() {
        if (region == null) {
            return new Region[0];
        }
        int count = earlier == null ? 0 : earlier.size();
        Region[] owned = new Region[count + 1];
        for (int i = 0; i < count; i++) {
            owned[i] = earlier.get(i).region();
        }
        owned[count] = region;
        return owned;
    }

    private void end(State ended) {
        state = ended;
        region = null;
        earlier = null;
        memory = MemorySegment.NULL;
        used = 0;
        capacity = 0;
        before = 0;
    }
}
