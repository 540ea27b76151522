// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Closing;
import io.bulla.refcount.internal.Failures;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Keeps the handles that a client's call has sent, and their streams: those that gRPC has not asked for yet, or may
/// ask for again.
final class SentMessages {

    private final boolean again;
    private final SentStreams streams = new SentStreams();

    // both are guarded by this until it is over, then the closer's; a handle is equal to itself alone
    private final Map<SealedBuffer, SealedBuffer> kept = new HashMap<>(2);
    private boolean over;
    private final Closing closing = new Closing();

    /// @param again whether gRPC may ask for a message more than once
    SentMessages(boolean again) {
        this.again = again;
    }

    /// Takes a handle until gRPC has asked for it, or the call is over.
    ///
    /// @param own closed here
    /// @return false, and it is closed already, if the call is over
    boolean keep(SealedBuffer own) {
        boolean taken = false;
        try {
            taken = isKept(own);
        } finally {
            if (!taken) {
                own.close();
            }
        }
        return taken;
    }

    private synchronized boolean isKept(SealedBuffer own) {
        if (over) {
            return false;
        }
        try {
            kept.put(own, own);
            return true;
        } catch (OutOfMemoryError full) {
            // a map that has no heap to grow has taken the entry already
            kept.remove(own);
            throw full;
        }
    }

    /// gRPC refused it.
    void drop(SealedBuffer own) {
        synchronized (this) {
            if (!over) {
                kept.remove(own);
            }
        }
        own.close();
    }

    /// Of gRPC, on a thread of its own perhaps, and more than once perhaps.
    ///
    /// @return a stream, an empty one if the call is over: gRPC only drops it then
    <T> InputStream stream(Marshaller<T> codec, T message) {
        if (!(message instanceof SealedBuffer handle)) {
            return watch(codec.stream(message));
        }
        @Nullable SealedBuffer safe = take(handle);
        if (safe == null) {
            return InputStream.nullInputStream();
        }
        try (safe) {
            @SuppressWarnings("unchecked") // as `message` is
            T same = (T) safe;
            return watch(codec.stream(same));
        }
    }

    private synchronized @Nullable SealedBuffer take(SealedBuffer handle) {
        if (over) {
            return null;
        }
        return !again && kept.remove(handle) != null ? handle : handle.share();
    }

    private InputStream watch(InputStream stream) {
        return stream instanceof SealedStream sealed && !streams.add(sealed) ? InputStream.nullInputStream() : stream;
    }

    /// The call is over. Takes no heap. Again is harmless.
    ///
    /// @return how many streams gRPC had forgotten
    int close() {
        synchronized (this) {
            if (over) {
                return 0;
            }
            over = true;
        }
        int forgotten = 0;
        try {
            Failures.rethrow(closing.closeAll(kept, null));
        } finally {
            forgotten = streams.close();
        }
        return forgotten;
    }
}
