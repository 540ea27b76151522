// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.SealedByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.Queue;

/// A message or a frame that waits for its turn.
sealed interface Waiting {

    /// Writes as much of it as goes at once.
    ///
    /// @param to for a frame of Netty's
    /// @param encoder for bytes that are framed
    /// @return whether that was all
    boolean writeNext(ChannelHandlerContext to, ChannelHandlerContext encoder);

    void fail(Throwable why);

    /// Puts it behind the others; where there is no heap for that, it fails.
    static void add(Queue<Waiting> others, Waiting last) {
        try {
            others.add(last);
        } catch (OutOfMemoryError noHeap) {
            last.fail(noHeap);
        }
    }

    /// Puts a frame of Netty's behind the others, as above.
    static void addBehind(Queue<Waiting> others, Object frame, ChannelPromise promise) {
        Behind last;
        try {
            last = new Behind(frame, promise);
        } catch (OutOfMemoryError noHeap) {
            // the promise is the caller's to fail
            ReferenceCountUtil.release(frame);
            throw noHeap;
        }
        add(others, last);
    }

    /// Gives up a frame of Netty's.
    static void refuse(Object frame, ChannelPromise promise, Throwable why) {
        try {
            ReferenceCountUtil.release(frame);
        } finally {
            promise.tryFailure(why);
        }
    }

    /// A frame of Netty's behind a message of several frames.
    record Behind(Object frame, ChannelPromise promise) implements Waiting {

        @Override
        public boolean writeNext(ChannelHandlerContext to, ChannelHandlerContext encoder) {
            to.write(frame, promise);
            return true;
        }

        @Override
        public void fail(Throwable why) {
            refuse(frame, promise, why);
        }
    }

    /// A message, and how much of it was written.
    final class Prepared implements Waiting, AutoCloseable {

        private final Wire wire;
        private final ChannelPromise promise;
        private int next;

        private Prepared(Wire wire, ChannelPromise promise) {
            this.wire = wire;
            this.promise = promise;
        }

        /// @param wire this one's, and closed if this fails
        static Prepared of(Wire wire, ChannelPromise promise) {
            try {
                return new Prepared(wire, promise);
            } catch (Throwable noHeap) {
                wire.close();
                throw noHeap;
            }
        }

        boolean isOneFrame() {
            return wire.isOneFrame();
        }

        @Override
        public boolean writeNext(ChannelHandlerContext to, ChannelHandlerContext encoder) {
            boolean last = next == wire.ends().length - 1;
            try {
                if (wire.isOneFrame()) {
                    encoder.write(SealedByteBuf.move(wire.frames()), promise);
                    return true;
                }
                long from = next == 0 ? 0 : wire.ends()[next - 1];
                SealedBuffer frame = wire.frames().slice(from, wire.ends()[next] - from);
                next++;
                if (last) {
                    try (wire) {
                        encoder.write(SealedByteBuf.move(frame), promise.addListener(this::closeHole));
                    }
                } else {
                    encoder.write(SealedByteBuf.move(frame)).addListener(this::closeHole);
                }
                return last;
            } catch (Throwable failure) {
                try {
                    fail(failure);
                } finally {
                    if (next > 0) {
                        to.close();
                    }
                }
                return true;
            }
        }

        /// A message of which some frames have gone out, and others not, ends the connection.
        private void closeHole(Future<? super Void> done) {
            if (!done.isSuccess()) {
                if (next < wire.ends().length) {
                    promise.tryFailure(done.cause());
                }
                // else the last frame is Netty's, and fails with its channel
                promise.channel().close();
            }
        }

        @Override
        public void fail(Throwable why) {
            try (wire) {
                promise.tryFailure(why);
            }
        }

        /// Gives up the message; its promise is the caller's to fail.
        @Override
        public void close() {
            wire.close();
        }
    }
}
