// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Closing;
import io.bulla.refcount.internal.Failures;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The messages that wait for one subscriber, in order. It takes no memory before the first one. Its subscription
/// guards it.
sealed interface Backlog {

    /// Of a subscription that has ended: nothing is ever added.
    Backlog NOTHING = new Ring();

    int size();

    /// Of all that waits.
    long bytes();

    /// Whether a message of this size could be added.
    boolean hasRoom(Bound bound, @Nullable Object key, long size);

    /// Adds a handle. If it fails, the handle is the caller's still, to be closed.
    ///
    /// @return the handle that it replaces, or nothing
    @Nullable
    SealedBuffer add(@Nullable Object key, SealedBuffer own, long size);

    /// The oldest, of at least one.
    SealedBuffer remove();

    /// Closes all that waits, each of them whatever another one throws. Nothing is added any more.
    ///
    /// @return the failure that is given, with what was thrown; or `null`
    @Nullable
    Throwable close(@Nullable Throwable failure);

    static Backlog of(SlowPolicy policy) {
        return policy == SlowPolicy.CONFLATE ? new ByKey() : new Ring();
    }

    /// One after the other, whatever their keys.
    final class Ring implements Backlog {

        private static final int FEWEST = 4;
        private static final @Nullable SealedBuffer[] NONE = {};

        // a power of two, or none
        private @Nullable SealedBuffer[] slots = NONE;
        private int head;
        private int count;
        private long bytes;

        @Override
        public int size() {
            return count;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public boolean hasRoom(Bound bound, @Nullable Object key, long size) {
            return bound.holds(count + 1, bytes + size);
        }

        @Override
        public @Nullable SealedBuffer add(@Nullable Object key, SealedBuffer own, long size) {
            if (count == slots.length) {
                grow();
            }
            slots[at(count)] = own;
            count++;
            bytes += size;
            return null;
        }

        /// Before anything is changed, as there may be no heap for it.
        private void grow() {
            @Nullable SealedBuffer[] larger = new SealedBuffer[Math.max(FEWEST, count * 2)];
            for (int i = 0; i < count; i++) {
                larger[i] = slots[at(i)];
            }
            slots = larger;
            head = 0;
        }

        @Override
        public SealedBuffer remove() {
            SealedBuffer oldest = get(0);
            slots[head] = null;
            head = at(1);
            count--;
            bytes -= oldest.byteSize();
            return oldest;
        }

        @Override
        public @Nullable Throwable close(@Nullable Throwable failure) {
            @Nullable Throwable joined = failure;
            for (int i = 0; i < count; i++) {
                joined = Failures.close(get(i), joined);
            }
            return joined;
        }

        private int at(int index) {
            return head + index & slots.length - 1;
        }

        private SealedBuffer get(int index) {
            @Nullable SealedBuffer one = slots[at(index)];
            if (one == null) {
                throw new AssertionError("a slot is empty: index=" + index + " count=" + count);
            }
            return one;
        }
    }

    /// One for each key, in the place of the first one of that key that still waits. A message without a key has one
    /// of its own.
    final class ByKey implements Backlog {

        private @Nullable LinkedHashMap<Object, SealedBuffer> waiting;
        private final Closing closing = new Closing();
        private long bytes;

        @Override
        public int size() {
            return waiting == null ? 0 : waiting.size();
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public boolean hasRoom(Bound bound, @Nullable Object key, long size) {
            @Nullable SealedBuffer before = waiting == null || key == null ? null : waiting.get(key);
            return before == null
                    ? bound.holds(size() + 1, bytes + size)
                    : bound.holds(size(), bytes + size - before.byteSize());
        }

        @Override
        public @Nullable SealedBuffer add(@Nullable Object key, SealedBuffer own, long size) {
            LinkedHashMap<Object, SealedBuffer> all = waiting == null ? new LinkedHashMap<>(4) : waiting;
            waiting = all;
            @Nullable SealedBuffer before = put(all, key == null ? own : key, own);
            bytes += before == null ? size : size - before.byteSize();
            return before;
        }

        /// Or nothing: a map that has no heap to grow has taken the entry already.
        private static @Nullable SealedBuffer put(
                LinkedHashMap<Object, SealedBuffer> all, Object key, SealedBuffer own) {
            try {
                return all.put(key, own);
            } catch (OutOfMemoryError full) {
                all.remove(key, own);
                throw full;
            }
        }

        @Override
        public SealedBuffer remove() {
            Map.@Nullable Entry<Object, SealedBuffer> oldest = waiting == null ? null : waiting.pollFirstEntry();
            if (oldest == null) {
                throw new AssertionError("no message waits");
            }
            bytes -= oldest.getValue().byteSize();
            return oldest.getValue();
        }

        @Override
        public @Nullable Throwable close(@Nullable Throwable failure) {
            return waiting == null ? failure : closing.closeAll(waiting, failure);
        }
    }
}
