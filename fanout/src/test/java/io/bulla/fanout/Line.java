// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.util.ArrayList;
import java.util.List;

/// A transport that keeps what it gets, and does what a test says within its calls.
class Line implements Subscriber {

    final List<Long> got = new ArrayList<>();
    final List<End> ends = new ArrayList<>();
    boolean ready = true;
    int asked;
    Runnable whileAsked = () -> {};
    Runnable whileSending = () -> {};
    Runnable whileClosing = () -> {};

    static Line blocked() {
        Line line = new Line();
        line.ready = false;
        return line;
    }

    @Override
    public boolean isReady() {
        asked++;
        // what is told while it is asked is told behind the answer
        boolean answer = ready;
        whileAsked.run();
        return answer;
    }

    @Override
    public void send(SealedBuffer message) {
        if (!ends.isEmpty()) {
            throw new AssertionError("a message after the end: " + ends);
        }
        got.add(BufferReader.of(message).getLong());
        whileSending.run();
    }

    @Override
    public void close(End why) {
        ends.add(why);
        whileClosing.run();
    }

    /// Takes what waits.
    void open(Subscription subscription) {
        ready = true;
        subscription.proceed();
    }

    static SealedBuffer message(MemorySource memory, long number, int size) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, size)) {
            return builder.putLong(number).put(new byte[size - Long.BYTES]).seal();
        }
    }

    static int publish(Fanout feed, MemorySource memory, long number) {
        return publish(feed, memory, number, 8);
    }

    static int publish(Fanout feed, MemorySource memory, long number, int size) {
        try (SealedBuffer message = message(memory, number, size)) {
            return feed.publish(message);
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    static int publish(Fanout feed, Object key, MemorySource memory, long number) {
        try (SealedBuffer message = message(memory, number, 8)) {
            return feed.publish(key, message);
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }
}
