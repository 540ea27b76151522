// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.CodecRegistry;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.faults.Doubles.Job;
import io.bulla.testkit.faults.RandomWorld.Held;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/// One of several users, who does what users do, in an order that its seed gives. Any call may fail; what it holds
/// has to read as it was sealed, whatever fails.
final class RandomUser implements Runnable {

    static final List<String> OPERATIONS = List.of(
            "build", "build", "pack", "share", "shares", "slice", "concat", "move", "copy", "adopt", "swap", "swap",
            "read", "read", "close", "close", "close", "forget", "disturb", "abandon");

    private static final int MOST_HELD = 40;
    private static final int SMALL = 5000;
    private static final int LARGE = 300_000;

    private final RandomWorld world;
    private final SplittableRandom random;
    private final long seed;
    private final BooleanSupplier goesOn;
    private final List<Held> held = new ArrayList<>();
    private final CodecRegistry registry;
    private String doing = "";
    long operations;

    RandomUser(RandomWorld world, long seed, BooleanSupplier goesOn) {
        this.world = world;
        this.seed = seed;
        this.random = new SplittableRandom(seed);
        this.goesOn = goesOn;
        this.registry = CodecRegistry.of(Fixtures.FORMAT).with(600, Job.class, Doubles.codec(world.points));
    }

    @Override
    public void run() {
        world.points.seed(seed);
        while (goesOn.getAsBoolean()) {
            operations++;
            doing = OPERATIONS.get(random.nextInt(OPERATIONS.size()));
            try {
                step();
            } catch (Throwable failure) {
                if (!isExpected(failure)) {
                    world.violated("user fails: operation=" + doing + " failure=" + failure + " at="
                            + Arrays.stream(failure.getStackTrace()).limit(4).toList());
                }
            }
        }
        world.points.paused(() -> held.forEach(one -> {
            verify(one);
            one.handle().close();
        }));
        held.clear();
    }

    private static boolean isExpected(Throwable failure) {
        return FaultPoints.isInjected(failure) || failure instanceof MemoryLimitException;
    }

    private void step() {
        if (held.size() > MOST_HELD) {
            close();
        }
        switch (doing) {
            case "build" -> build();
            case "pack" -> pack();
            case "adopt" -> adopt();
            case "swap" -> swap();
            case "disturb" -> disturb();
            case "abandon" -> abandon();
            default -> {
                if (!held.isEmpty()) {
                    try {
                        withHeld(random.nextInt(held.size()));
                    } finally {
                        // moved away, or ended by a move that failed
                        held.removeIf(gone -> !gone.handle().isOpen());
                    }
                }
            }
        }
    }

    private void withHeld(int at) {
        Held one = held.get(at);
        switch (doing) {
            case "share" -> held.add(new Held(one.handle().share("user " + seed), one.content()));
            case "shares" -> {
                for (SealedBuffer share : one.handle().shares(3)) {
                    held.add(new Held(share, one.content()));
                }
            }
            case "slice" -> slice(one);
            case "concat" -> concat(one, held.get(random.nextInt(held.size())));
            case "move" -> held.add(new Held(one.handle().move("moved"), one.content()));
            case "copy" -> held.add(new Held(one.handle().copy(source()), one.content()));
            case "read" -> world.points.paused(() -> verify(one));
            case "forget" -> forget();
            default -> close();
        }
    }

    private MemorySource source() {
        return world.source(random.nextInt(3));
    }

    private byte[] content() {
        byte[] content = new byte[random.nextInt(100) == 0 ? LARGE : random.nextInt(SMALL)];
        random.nextBytes(content);
        return content;
    }

    private void build() {
        byte[] content = content();
        int half = content.length / 2;
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source(), 1 + random.nextInt(600))) {
            builder.put(content, 0, half);
            retryPut(builder, content, half);
            held.add(new Held(builder.seal(), content));
        }
    }

    /// A put that failed left the builder as it was, so it may be tried again.
    private void retryPut(BufferBuilder builder, byte[] content, int half) {
        try {
            builder.put(content, half, content.length - half);
        } catch (Throwable failure) {
            if (!isExpected(failure)) {
                throw failure;
            }
            if (builder.byteSize() != half) {
                world.violated("a failed put left bytes: byteSize=" + builder.byteSize() + " before=" + half);
            }
            world.points.paused(() -> builder.put(content, half, content.length - half));
        }
    }

    private void pack() {
        List<Job> jobs = List.of(new Job(random.nextInt(), "job"), new Job(random.nextInt(), "another"));
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source(), 16)) {
            Packer packer = Packer.into(builder, Fixtures.FORMAT);
            registry.pack(packer, Job.class, jobs);
            try (SealedBuffer message = builder.seal()) {
                Unpacker unpacker = Unpacker.of(message, Fixtures.FORMAT);
                long before = unpacker.position();
                try {
                    check(jobs.equals(registry.unpack(unpacker, Job.class)), "unpacked otherwise");
                } catch (Throwable failure) {
                    check(unpacker.position() == before, "a failed unpack moved its reader");
                    throw failure;
                }
            }
        }
    }

    private void adopt() {
        byte[] content = content();
        MemorySegment memory =
                Arena.ofAuto().allocate(Math.max(1, content.length)).asSlice(0, content.length);
        memory.copyFrom(MemorySegment.ofArray(content));
        world.adopted.incrementAndGet();
        held.add(new Held(
                SealedBuffer.adopt(memory, () -> {
                    world.released.incrementAndGet();
                    world.points.reach("onRelease, done");
                }),
                content));
    }

    private void slice(Held one) {
        int from = random.nextInt(one.content().length + 1);
        int length = random.nextInt(one.content().length - from + 1);
        held.add(new Held(one.handle().slice(from, length), Arrays.copyOfRange(one.content(), from, from + length)));
    }

    private void concat(Held one, Held other) {
        if (one.content().length + other.content().length < 2 * LARGE) {
            byte[] both = Arrays.copyOf(one.content(), one.content().length + other.content().length);
            System.arraycopy(other.content(), 0, both, one.content().length, other.content().length);
            held.add(new Held(SealedBuffer.concat(one.handle(), other.handle()), both));
        }
    }

    /// Hands a handle to whichever user comes next, through a race, and takes what lies there.
    private void swap() {
        Held mine = held.isEmpty() ? null : held.removeLast();
        Held theirs = world.board.getAndSet(random.nextInt(world.board.length()), mine);
        if (theirs != null) {
            held.add(theirs);
            world.points.paused(() -> verify(theirs));
        }
    }

    private void close() {
        if (!held.isEmpty()) {
            SealedBuffer handle = held.remove(random.nextInt(held.size())).handle();
            try {
                handle.close();
            } finally {
                handle.close();
                check(isOver(handle), "a closed handle is served");
            }
        }
    }

    private static boolean isOver(SealedBuffer handle) {
        try {
            handle.byteSize();
            return false;
        } catch (ReleasedBufferException over) {
            return true;
        } catch (Throwable failure) {
            // its listener was asked who closed it
            return isExpected(failure);
        }
    }

    /// No caller closes this one: the ledger does. Only of a source that has one.
    private void forget() {
        if (random.nextInt(20) == 0) {
            BufferBuilder builder = BufferBuilder.create(world.tracedSource(random.nextInt(2)));
            try {
                builder.putInt(1).seal("forgotten");
            } finally {
                builder.close();
            }
        }
    }

    private void abandon() {
        BufferBuilder builder = BufferBuilder.create(source());
        try {
            builder.put(content()).truncate(0);
        } finally {
            builder.close();
        }
    }

    /// What others in a process do: interrupt any thread that they can see, and ask for a trim.
    private void disturb() {
        if (random.nextInt(50) == 0) {
            Thread[] threads = new Thread[100];
            int count = Thread.enumerate(threads);
            for (int i = 0; i < count; i++) {
                if (threads[i].getName().startsWith("bulla-")) {
                    threads[i].interrupt();
                }
            }
            world.arena(random.nextInt(3)).trim();
        }
    }

    private void verify(Held one) {
        IoVec bytes = one.handle().iovec();
        byte[] now = new byte[Math.toIntExact(bytes.byteSize())];
        bytes.copyTo(0, MemorySegment.ofArray(now), now.length);
        int at = Arrays.mismatch(now, one.content());
        check(at < 0, "sealed bytes changed: offset=" + at + " byteSize=" + now.length);
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            world.violated(what + ": operation=" + doing);
        }
    }
}
