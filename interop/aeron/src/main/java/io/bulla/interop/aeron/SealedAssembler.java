// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.Image;
import io.aeron.logbuffer.ControlledFragmentHandler.Action;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.FrameDescriptor;
import io.aeron.logbuffer.Header;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Makes sealed buffers of the fragments that a subscription polls.
///
/// ```
/// nothing --first fragment--> half --more--> half --last--> sealed, delivered        of each session, side by side
///                              half --gap, too long, no memory, image gone, close()--> memory given back
/// ```
///
/// Guarantees
/// - *One copy*: from Aeron's log into a region of the source, where it stays. A message of one fragment takes
///   one region of its size; a longer one grows, since Aeron announces no length.
/// - *Checked before taken*: a fragment that would pass the limit takes no memory.
/// - *Nothing half*: a message is delivered whole, or given up with one exception, which Aeron gives to its error
///   handler, and the messages behind it arrive as ever.
/// - *No lock is held* while the handler runs.
///
/// Use: `subscription.poll(assembler, 10)`, or `subscription.controlledPoll(assembler::onControlledFragment,
/// 10)`, which leaves a fragment in Aeron's log while the source has no memory for it; and
/// `aeron.addSubscription(channel, stream, null, assembler::onUnavailableImage)`. One thread polls; the others
/// may call the rest.
public final class SealedAssembler implements FragmentHandler, AutoCloseable {

    private static final int FIRST = FrameDescriptor.BEGIN_FRAG_FLAG & 0xff;
    private static final int LAST = FrameDescriptor.END_FRAG_FLAG & 0xff;
    /// How much longer than its first fragment a message is taken to be.
    private static final int GROWTH = 4;

    private final MemorySource source;
    private final long limit;
    private final SealedMessageHandler handler;
    private final Map<Object, Half> halves = new ConcurrentHashMap<>();

    /// An assembler of messages of at most `limit` bytes.
    ///
    /// @param source where they land
    /// @param limit the longest message, in bytes, at least 0
    /// @param handler gets them
    /// @throws IllegalArgumentException if `limit` is negative
    /// @throws UnsupportedOperationException if the JVM was not started for Agrona, see [AgronaAccess]
    public SealedAssembler(MemorySource source, long limit, SealedMessageHandler handler) {
        AgronaAccess.check();
        if (limit < 0) {
            throw new IllegalArgumentException("limit of a message is negative: limit=" + limit);
        }
        this.source = Objects.requireNonNull(source, "source");
        this.limit = limit;
        this.handler = Objects.requireNonNull(handler, "handler");
    }

    /// Takes a fragment, and delivers the message that it ends.
    ///
    /// @param buffer of the log
    /// @param offset of the fragment's bytes
    /// @param length in bytes
    /// @param header says which fragment, of which session
    /// @throws IllegalArgumentException if the message is longer than the limit; it is given up
    /// @throws IllegalStateException if a fragment before this one is missing, or the source has no memory; the
    ///     message is given up
    @Override
    public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
        SealedBuffer message;
        try {
            message = take(buffer, offset, length, header);
        } catch (MemoryLimitException full) {
            giveUp(keyOf(header));
            throw full;
        }
        deliver(message, header);
    }

    /// Takes a fragment as [#onFragment], but leaves it in the log while the source has no memory for it.
    ///
    /// A message is delivered once: what the handler throws, a [MemoryLimitException] of its own too, goes to
    /// Aeron's error handler, and the fragment does not come again.
    ///
    /// The half messages keep theirs meanwhile: a source with room for the limit times the number of sessions
    /// never waits for itself.
    ///
    /// @param buffer of the log
    /// @param offset of the fragment's bytes
    /// @param length in bytes
    /// @param header says which fragment, of which session
    /// @return `CONTINUE`, or `ABORT` if it is to come again
    /// @throws IllegalArgumentException if the message is longer than the limit; it is given up
    /// @throws IllegalStateException if a fragment before this one is missing; the message is given up
    public Action onControlledFragment(DirectBuffer buffer, int offset, int length, Header header) {
        SealedBuffer message;
        try {
            message = take(buffer, offset, length, header);
        } catch (MemoryLimitException full) {
            return Action.ABORT;
        }
        deliver(message, header);
        return Action.CONTINUE;
    }

    /// Gives back what a session has of a message that will not end: an `UnavailableImageHandler`. Any thread.
    ///
    /// @param image that is gone
    public void onUnavailableImage(Image image) {
        giveUp(image);
    }

    /// Sessions that have part of a message: for a gauge. One that stays above 0 shows a publisher that stopped in
    /// the middle, whose memory is kept until its image goes.
    ///
    /// @return at least 0
    public int halves() {
        return halves.size();
    }

    /// Gives back every half message. Any thread, once polling has ended. Again is harmless.
    @Override
    public void close() {
        halves.keySet().forEach(this::giveUp);
    }

    /// @return the message that the fragment ends, or `null`
    private @Nullable SealedBuffer take(DirectBuffer buffer, int offset, int length, Header header) {
        int flags = header.flags() & 0xff;
        if ((flags & (FIRST | LAST)) == (FIRST | LAST)) {
            giveUp(keyOf(header));
            return single(buffer, offset, length);
        }
        return fragment(buffer, offset, length, header, flags);
    }

    private void deliver(@Nullable SealedBuffer message, Header header) {
        if (message != null) {
            handler.onMessageMoved(message, header);
        }
    }

    private SealedBuffer single(DirectBuffer buffer, int offset, int length) {
        checkLimit(0, length);
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, length))) {
            builder.put(AgronaMemory.of(buffer, offset, length));
            return builder.seal();
        }
    }

    private @Nullable SealedBuffer fragment(DirectBuffer buffer, int offset, int length, Header header, int flags) {
        Object session = keyOf(header);
        if ((flags & FIRST) != 0) {
            giveUp(session);
            checkLimit(0, length);
            begin(session, length);
        }
        Half half = halves.get(session);
        if (half == null) {
            // the rest of a message that was given up, or one that began before this reader came
            return null;
        }
        SealedBuffer message;
        try {
            message = half.add(buffer, offset, length, header, limit);
        } catch (MemoryLimitException full) {
            if ((flags & FIRST) != 0) {
                giveUp(session);
            }
            throw full;
        } catch (Throwable failure) {
            giveUp(session);
            throw failure;
        }
        if ((flags & LAST) != 0) {
            giveUp(session);
        }
        return message;
    }

    private void begin(Object session, int length) {
        long capacity = Math.max(1, Math.min(limit, (long) length * GROWTH));
        halves.put(session, new Half(BufferBuilder.expecting(source, capacity)));
        // the image is closed before it is said to be: either this sees it, or onUnavailableImage sees the half
        if (session instanceof Image image && image.isClosed()) {
            giveUp(session);
        }
    }

    private void giveUp(Object session) {
        Half half = halves.remove(session);
        if (half != null) {
            half.close();
        }
    }

    private void checkLimit(long before, int length) {
        Half.checkLimit(before, length, limit);
    }

    /// The image, since two of a subscription may have one session number; or whatever the header has instead.
    private static Object keyOf(Header header) {
        Object context = header.context();
        return context == null ? header.sessionId() : context;
    }
}
