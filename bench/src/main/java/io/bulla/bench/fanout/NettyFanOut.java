// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.SealedWrite;
import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import java.util.concurrent.CountDownLatch;

/// Fan-out over TCP or TLS with Netty: a write and a flush for each peer, on the event loop.
///
/// `shares` is [SealedWrite]; `retained-duplicate` is how Netty's own users share one buffer; `copy-...` is a
/// copy for each peer in direct memory of one of Netty's allocators, `copy-heap` in an array, which the transport
/// copies once more; `repack` packs the numbers anew into pooled memory. With TLS, encryption is in all of them.
final class NettyFanOut implements FanOut, NettyPeers.Arrived {

    private interface Send {
        void to(Channel channel);
    }

    private final Message message;
    private final int peers;
    private final ArenaSource source = ArenaSource.create();
    private final SealedBuffer sealed;
    private final ByteBuf buffer;
    private final Arrivals arrivals;
    private final NettyPeers sockets;
    private final Send send;

    // the event loop's, from here
    private long wanted;
    private int left;
    private CountDownLatch done;
    private Throwable failure;

    NettyFanOut(String design, boolean tls, Message message, int peers) throws Exception {
        this.message = message;
        this.peers = peers;
        this.sealed = message.seal(source);
        this.buffer = PooledByteBufAllocator.DEFAULT
                .directBuffer(message.size(), message.size())
                .writeBytes(message.bytes());
        this.arrivals = new Arrivals(message, peers);
        this.sockets = new NettyPeers(peers, tls, this);
        this.send = switch (design) {
            case "shares" -> null;
            case "retained-duplicate" -> to -> to.writeAndFlush(buffer.retainedDuplicate(), to.voidPromise());
            case "copy-pooled" -> copiesIn(PooledByteBufAllocator.DEFAULT);
            case "copy-adaptive" -> copiesIn(new AdaptiveByteBufAllocator());
            case "copy-unpooled" -> copiesIn(UnpooledByteBufAllocator.DEFAULT);
            case "copy-heap" -> to -> to.writeAndFlush(Unpooled.copiedBuffer(message.bytes()), to.voidPromise());
            case "repack" -> this::repack;
            default -> throw new IllegalArgumentException("no such design: " + design);
        };
    }

    private Send copiesIn(ByteBufAllocator allocator) {
        int size = message.size();
        return to -> to.writeAndFlush(allocator.directBuffer(size, size).writeBytes(buffer, 0, size), to.voidPromise());
    }

    private void repack(Channel to) {
        int size = message.size();
        ByteBuf packed = PooledByteBufAllocator.DEFAULT.directBuffer(size, size);
        message.repack(packed.internalNioBuffer(0, size));
        to.writeAndFlush(packed.writerIndex(size), to.voidPromise());
    }

    @Override
    public void run(int times) throws InterruptedException {
        CountDownLatch all = new CountDownLatch(1);
        sockets.execute(() -> {
            done = all;
            left = times;
            begin();
        });
        all.await();
        if (failure != null) {
            throw new IllegalStateException("fan-out failed", failure);
        }
    }

    private void begin() {
        wanted = arrivals.total() + (long) peers * message.size();
        if (send == null) {
            SealedBuffer[] handles = sealed.shares(peers);
            for (int i = 0; i < peers; i++) {
                SealedWrite.move(sockets.channel(i), Unpooled.EMPTY_BUFFER, handles[i]);
            }
            return;
        }
        for (int i = 0; i < peers; i++) {
            send.to(sockets.channel(i));
        }
    }

    @Override
    public void failed(Throwable cause) {
        failure = cause;
        done.countDown();
    }

    @Override
    public void took(int peer, ByteBuf bytes) {
        arrivals.took(peer, bytes.nioBuffer());
        if (arrivals.total() == wanted) {
            if (--left > 0) {
                sockets.execute(this::begin);
            } else {
                done.countDown();
            }
        }
    }

    @Override
    public void compare(boolean yes) {
        sockets.execute(() -> arrivals.compare(yes));
    }

    @Override
    public void close() throws InterruptedException {
        sockets.close();
        buffer.release();
        sealed.close();
        source.close();
    }
}
