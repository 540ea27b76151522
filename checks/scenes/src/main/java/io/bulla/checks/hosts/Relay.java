// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/// A switch of Ethernet frames in a process of its own, between interfaces that it makes, which holds each frame for
/// a time: the kernel's `netem` where the kernel has none. Frames are those that TCP's segmentation leaves to the
/// card, up to 64 KiB.
///
/// | in | out |
/// |---|---|
/// | arguments: the names of its interfaces | `ready`, or why not |
/// | `path MICROS TWICE LOST`: how long a frame is held, how many of 100 twice as long, how many are lost | |
/// | `figures` | `figures FRAMES BYTES DROPPED OVERTAKEN LATEST LOST`; they start at 0 again |
/// | end of its input | |
///
/// LATEST is in microseconds. It reads no frame while so much is on its way that memory would end.
public final class Relay {

    private static final int FRAME = 72 << 10;
    private static final int MOST_FRAMES = 12_000;
    private static final int AT_ONCE = 32;
    private static final long IDLE_NANOS = 100_000_000;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long GROUP = 1L << 40;

    /// A frame on its way.
    private static final class Held implements Comparable<Held> {

        final MemorySegment frame = Arena.ofAuto().allocate(FRAME, 8);
        long bytes;
        int to;
        long due;
        long number;

        @Override
        public int compareTo(Held other) {
            int first = Long.compare(due, other.due);
            return first != 0 ? first : Long.compare(number, other.number);
        }
    }

    private final List<Tap> taps = new ArrayList<>();
    private final Map<Long, Integer> tapOf = new HashMap<>();
    private final PriorityQueue<Held> held = new PriorityQueue<>();
    private final ArrayDeque<Held> free = new ArrayDeque<>();
    private final SplittableRandom random = new SplittableRandom(1);
    private int made;
    private long numbers;
    private long frames;
    private long bytes;
    private long dropped;
    private long overtaken;
    private long newest;
    private long latest;
    private long lost;
    // volatile: another thread hears what is wanted
    private volatile long delayNanos;
    private volatile int twicePercent;
    private volatile int lostPercent;
    private volatile boolean wanted;

    private Relay(String[] names) throws IOException {
        for (String name : names) {
            taps.add(new Tap(name));
        }
    }

    /// @param arguments names of interfaces
    public static void main(String[] arguments) throws IOException {
        Relay relay;
        try {
            relay = new Relay(arguments);
        } catch (IOException missing) {
            System.out.println(missing.getMessage());
            return;
        }
        Thread.ofPlatform().daemon().start(relay::hear);
        System.out.println("ready");
        relay.run();
    }

    private void hear() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ");
                if (words[0].equals("path")) {
                    delayNanos = Long.parseLong(words[1]) * 1000;
                    twicePercent = Integer.parseInt(words[2]);
                    lostPercent = Integer.parseInt(words[3]);
                } else {
                    wanted = true;
                }
            }
        } catch (IOException | RuntimeException broken) {
            System.err.println("hosts: the relay hears no more: " + broken);
        }
        // the check has ended, or wants no more
        Runtime.getRuntime().halt(0);
    }

    private void run() throws IOException {
        Tap.Poll poll = new Tap.Poll(taps);
        while (true) {
            long now = System.nanoTime();
            while (!held.isEmpty() && held.peek().due <= now) {
                Held next = held.poll();
                latest = Math.max(latest, now - next.due);
                overtaken += next.number < newest ? 1 : 0;
                newest = Math.max(newest, next.number);
                if (taps.get(next.to).write(next.frame, next.bytes)) {
                    frames++;
                    bytes += next.bytes;
                } else {
                    dropped++;
                }
                free.push(next);
            }
            if (wanted) {
                wanted = false;
                System.out.println("figures " + frames + " " + bytes + " " + dropped + " " + overtaken + " "
                        + latest / 1000 + " " + lost);
                frames = 0;
                bytes = 0;
                dropped = 0;
                overtaken = 0;
                latest = 0;
                lost = 0;
            }
            now = System.nanoTime();
            poll.await(held.isEmpty() ? IDLE_NANOS : Math.clamp(held.peek().due - now, 0, IDLE_NANOS));
            for (int from = 0; from < taps.size(); from++) {
                if (poll.isReady(from)) {
                    take(from);
                }
            }
        }
    }

    private void take(int from) {
        for (int i = 0; i < AT_ONCE; i++) {
            Held next = empty();
            if (next == null) {
                // the interface's own queue holds it, or drops it
                return;
            }
            next.bytes = taps.get(from).read(next.frame);
            if (next.bytes <= Tap.HEADER) {
                free.push(next);
                return;
            }
            if (lostPercent > 0 && random.nextInt(100) < lostPercent) {
                lost++;
                free.push(next);
            } else {
                route(from, next);
            }
        }
    }

    /// A switch learns behind which interface an address is, and sends what is for all, or unknown, to all others.
    private void route(int from, Held next) {
        long target = next.frame.get(LONG, Tap.HEADER) >>> 16;
        tapOf.put(next.frame.get(LONG, Tap.HEADER + 6) >>> 16, from);
        Integer to = (target & GROUP) != 0 ? null : tapOf.get(target);
        long due = System.nanoTime() + delayNanos;
        if (twicePercent > 0 && random.nextInt(100) < twicePercent) {
            due += delayNanos;
        }
        if (to != null) {
            if (to == from) {
                // a bridge has sent it everywhere: back there, it would teach that its sender is behind this relay
                free.push(next);
            } else {
                hold(next, to, due);
            }
            return;
        }
        for (int other = 0; other < taps.size(); other++) {
            Held copy = other == from ? null : empty();
            if (copy != null) {
                copy.bytes = next.bytes;
                MemorySegment.copy(next.frame, 0, copy.frame, 0, next.bytes);
                hold(copy, other, due);
            }
        }
        free.push(next);
    }

    private void hold(Held next, int to, long due) {
        next.to = to;
        next.due = due;
        next.number = numbers++;
        held.add(next);
    }

    private Held empty() {
        Held next = free.poll();
        if (next == null && made < MOST_FRAMES) {
            made++;
            next = new Held();
        }
        return next;
    }
}
