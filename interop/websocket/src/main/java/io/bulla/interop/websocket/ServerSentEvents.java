// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Makes server-sent events, each once for all clients: one chunk of HTTP/1.1, the same bytes for each of them.
///
/// ```
/// hex length CR LF                                                     the chunk (RFC 9112, 7.1)
///   id: ID LF   event: NAME LF   data: LINE LF ...   LF                the event (WHATWG HTML, 9.2)
/// CR LF
/// ```
///
/// ```java
/// ServerSentEvents events = new ServerSentEvents(memory);
/// try (SealedBuffer price = events.event("4711", "price", json)) {
///     feed.publish(price);
/// }
/// ```
///
/// The bytes are what [EventStream] writes, and nothing else. Immutable; any number of threads may make events.
public final class ServerSentEvents {

    private static final byte[] DATA = "data: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] COMMENT = ": ".getBytes(StandardCharsets.US_ASCII);

    private final MemorySource memory;

    /// Makes events in some memory.
    ///
    /// @param memory of the events; it outlives them
    public ServerSentEvents(MemorySource memory) {
        this.memory = Objects.requireNonNull(memory, "memory");
    }

    /// An event with data alone.
    ///
    /// @param data of any number of lines; each line break arrives as a line feed
    /// @return to be closed
    /// @throws IllegalArgumentException if it has half a surrogate pair, which UTF-8 cannot say
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public SealedBuffer event(String data) {
        return event(null, null, data);
    }

    /// An event.
    ///
    /// @param id what a client that connects again says it has got last, as `Last-Event-ID`; or `null`
    /// @param name for whom it is at the client; or `null`, which is `message` there
    /// @param data of any number of lines; each line break arrives as a line feed
    /// @return to be closed
    /// @throws IllegalArgumentException if `id` or `name` has a line break, `id` a NUL, or one of the three half a
    ///     surrogate pair
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public SealedBuffer event(@Nullable String id, @Nullable String name, String data) {
        SealedBuffer utf8 = Utf8Check.sealed(memory, data);
        return Parts.into(List.of(utf8), () -> lines(fields(id, name), DATA, utf8));
    }

    /// An event whose data are bytes, as a serializer made them.
    ///
    /// @param id as above
    /// @param name as above
    /// @param utf8 open; the handle stays the caller's
    /// @return to be closed
    /// @throws IllegalArgumentException as above, or if the bytes are not UTF-8
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public SealedBuffer event(@Nullable String id, @Nullable String name, SealedBuffer utf8) {
        Utf8Check.check(utf8);
        return lines(fields(id, name), DATA, utf8);
    }

    /// What clients ignore, and proxies take for a sign of life.
    ///
    /// @param text of any number of lines
    /// @return to be closed
    /// @throws IllegalArgumentException if it has half a surrogate pair
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public SealedBuffer comment(String text) {
        SealedBuffer utf8 = Utf8Check.sealed(memory, text);
        return Parts.into(List.of(utf8), () -> lines(new byte[0], COMMENT, utf8));
    }

    /// How long a client waits before it connects again.
    ///
    /// @param pause not negative; in milliseconds on the wire
    /// @return to be closed
    /// @throws IllegalArgumentException if it is negative
    /// @throws ArithmeticException if its milliseconds are more than a `long`
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory
    public SealedBuffer retry(Duration pause) {
        if (pause.isNegative()) {
            throw new IllegalArgumentException("pause is negative: pause=" + pause);
        }
        byte[] field = ("retry: " + pause.toMillis() + "\n\n").getBytes(StandardCharsets.US_ASCII);
        return chunk(field.length, builder -> builder.put(field));
    }

    private static byte[] fields(@Nullable String id, @Nullable String name) {
        StringBuilder fields = new StringBuilder();
        if (id != null) {
            if (id.indexOf('\0') >= 0) {
                throw new IllegalArgumentException(
                        "id has a NUL, with which clients ignore it: at=" + id.indexOf('\0'));
            }
            fields.append("id: ").append(oneLine("id", id)).append('\n');
        }
        if (name != null) {
            fields.append("event: ").append(oneLine("name", name)).append('\n');
        }
        return fields.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String oneLine(String what, String text) {
        Utf8Check.check(text);
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '\n' || text.charAt(i) == '\r') {
                throw new IllegalArgumentException(what + " has a line break: at=" + i + " length=" + text.length());
            }
        }
        return text;
    }

    /// Fields, then each line behind a prefix, then the empty line that ends the event.
    private SealedBuffer lines(byte[] fields, byte[] prefix, SealedBuffer text) {
        long[] length = {fields.length + 1L};
        eachLine(text, (from, size) -> length[0] += prefix.length + size + 1);
        return chunk(length[0], builder -> {
            builder.put(fields);
            eachLine(
                    text,
                    (from, size) -> builder.put(prefix)
                            .put(text.iovec().slice(from, size))
                            .putByte((byte) '\n'));
            builder.putByte((byte) '\n');
        });
    }

    private SealedBuffer chunk(long length, Consumer<BufferBuilder> payload) {
        byte[] head = (Long.toHexString(length) + "\r\n").getBytes(StandardCharsets.US_ASCII);
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, head.length + length + 2)) {
            builder.put(head);
            payload.accept(builder);
            return builder.putByte((byte) '\r').putByte((byte) '\n').seal();
        }
    }

    @FunctionalInterface
    private interface Line {
        void at(long from, long size);
    }

    /// Lines end at CR LF, LF or CR; the last one at the end.
    private static void eachLine(SealedBuffer text, Line line) {
        long at = 0;
        long start = 0;
        boolean afterReturn = false;
        for (ByteBuffer region : text.iovec().lent().asByteBuffers()) {
            while (region.hasRemaining()) {
                byte each = region.get();
                if (each == '\n' && afterReturn) {
                    start = at + 1;
                } else if (each == '\n' || each == '\r') {
                    line.at(start, at - start);
                    start = at + 1;
                }
                afterReturn = each == '\r';
                at++;
            }
        }
        line.at(start, at - start);
        Reference.reachabilityFence(text);
    }
}
