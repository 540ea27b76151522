// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.FanoutFigures;
import io.bulla.interop.grpc.Broadcast;
import io.bulla.refcount.internal.Failures;
import io.grpc.ServerCallHandler;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.jspecify.annotations.Nullable;

/// One stream of record batches for many clients of Flight: each batch is serialized and copied once, then shared.
///
/// - A client gets the schema, the dictionaries as they were when the feed was opened, and every batch that is
///   published while it is subscribed, each at most once and in order.
/// - The vectors are the caller's again as soon as [#publish] returns: what waits for a slow client is the packed
///   batch.
/// - What may wait for a client is bounded, and `SlowPolicy` says what becomes of one that is over it.
///
/// One thread at a time opens and publishes, as vectors ask for; any thread may look at the figures, complete and
/// close.
public final class FlightFeed implements AutoCloseable {

    private final Recording source;
    private final Broadcast clients;

    private FlightFeed(Recording source, Broadcast clients) {
        this.source = source;
        this.clients = clients;
    }

    static FlightFeed open(
            Recording source,
            VectorSchemaRoot root,
            @Nullable DictionaryProvider dictionaries,
            IpcOption option,
            Broadcast.Builder clients) {
        List<SealedBuffer> first = source.start(root, dictionaries, option);
        Broadcast shared;
        try {
            shared = clients.first(first).build();
        } catch (Throwable failure) {
            Failures.closeAll(first, failure);
            throw failure;
        }
        try {
            Failures.rethrow(Failures.closeAll(first, null));
        } catch (Throwable failure) {
            // who is told of it has no feed to close
            shared.close();
            throw failure;
        }
        return new FlightFeed(source, shared);
    }

    /// Sends what is in the root now to every client, or lets it wait there.
    ///
    /// @return the number of clients at the time
    /// @throws IllegalStateException if the source has no more memory, or the feed is completed or closed; no
    ///     client got it
    /// @throws InterruptedException if the thread was interrupted while it waited for a client to have room; no
    ///     client got it
    public int publish() throws InterruptedException {
        return publish(null);
    }

    /// Sends what is in the root now to every client, with a few bytes of the program's own.
    ///
    /// @param metadata taken over, whatever the outcome; or `null`
    /// @return the number of clients at the time
    /// @throws IllegalStateException if the source has no more memory, or the feed is completed or closed; no
    ///     client got it
    /// @throws InterruptedException if the thread was interrupted while it waited for a client to have room; no
    ///     client got it
    public int publish(@Nullable ArrowBuf metadata) throws InterruptedException {
        try (SealedBuffer batch = source.next(metadata)) {
            return clients.publish(batch);
        }
    }

    <Q> ServerCallHandler<Q, SealedBuffer> handler() {
        return clients.asHandler();
    }

    /// What was done so far; `sent` counts the schema and the dictionaries of each client too.
    ///
    /// @return a snapshot, exact when nothing is under way
    public FanoutFigures figures() {
        return clients.figures();
    }

    /// Publishes no more. Each client gets what waits for it, and the end of its stream.
    public void complete() {
        clients.complete();
    }

    /// Ends the stream of every client with an error, at once. Again is harmless.
    @Override
    public void close() {
        clients.close();
    }

    @Override
    public String toString() {
        return "FlightFeed[" + clients.figures() + "]";
    }
}
