// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import org.jspecify.annotations.Nullable;

/// What the marshaller opens inside one send, told to the sender: gRPC's transport in the same process forgets a
/// message of a call that has just ended, and then nothing else would close it.
final class Sending {

    private static final ThreadLocal<Sending> MINE = ThreadLocal.withInitial(Sending::new);

    private boolean watched;
    private @Nullable SealedStream stream;

    private Sending() {}

    /// Of this thread.
    static Sending mine() {
        return MINE.get();
    }

    /// Cannot fail.
    void opened(SealedStream opened) {
        if (watched) {
            stream = opened;
        }
    }

    /// Sends, perhaps from inside another send of the thread.
    ///
    /// @return the stream that gRPC has not closed yet, or nothing
    static <T> @Nullable SealedStream send(Target<T> target, T message) {
        Sending mine = mine();
        boolean outerWatched = mine.watched;
        @Nullable SealedStream outer = mine.stream;
        mine.watched = true;
        mine.stream = null;
        try {
            target.send(message);
            return open(mine.stream);
        } catch (Throwable failure) {
            closeAfter(failure, mine.stream);
            throw failure;
        } finally {
            mine.watched = outerWatched;
            mine.stream = outer;
        }
    }

    private static @Nullable SealedStream open(@Nullable SealedStream stream) {
        return stream != null && stream.isOpen() ? stream : null;
    }

    private static void closeAfter(Throwable failure, @Nullable SealedStream stream) {
        try {
            if (stream != null) {
                stream.close();
            }
        } catch (Throwable another) {
            failure.addSuppressed(another);
        }
    }
}
