// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Writes and reads of this module while what they call fails: handlers, listeners, formats, allocators, memory.
@ExtendWith(NoLeaks.class)
@Tag("faults")
class NettyFaultTest {

    private static final int HEADER = 4;
    private static final List<Integer> FRAMES = List.of(300, 0, 7, 70_000, 12);

    @Test
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        FaultRun run = new FaultRun("netty");
        run.operation("SealedWrite.write(Channel, ByteBuf, SealedBuffer)", List.of(write(1), write(1030), write(2060)));
        run.operation("SealedWrite.write to a loop that is down", NettyFaultTest::writeToALoopThatIsDown);
        run.operation("FrameReader.install(Channel, MemorySource, FrameFormat)", NettyFaultTest::install);
        run.operation("FrameReader, with a copy", List.of(readCopied(false), readCopied(true), readCopiedInTwo()));
        run.operation("FrameReader, straight", List.of(readStraight(false), readStraight(true)));
        run.operation("MeteredAllocator", NettyFaultTest::meteredAllocator);
        FaultReport report = run.report().print();
        report.check();
    }

    // writes

    private static Operation write(int regions) {
        return scene -> {
            // the first one loads Netty's classes
            scene.mayTake(64 << 20);
            SealedBuffer message = regions == 1 ? scene.buffer(300) : many(scene, regions);
            byte[] content = bytesOf(message);
            return () -> {
                EmbeddedChannel channel = new EmbeddedChannel(new Outbound(scene.points()));
                List<Boolean> told = new ArrayList<>();
                SealedBuffer handle = message.share();
                ByteBuf header = Unpooled.directBuffer(1).writeByte(9);
                try {
                    ChannelFuture written = SealedWrite.write(channel, header, handle);
                    written.addListener(done -> {
                        told.add(done.isSuccess());
                        scene.points().reach("ChannelFutureListener.operationComplete");
                    });
                    channel.runPendingTasks();
                    expect(written.isDone(), "the write never completes");
                    expect(told.equals(List.of(written.isSuccess())), "listeners are told once: " + told);
                    byte[] out = outbound(channel);
                    if (written.isSuccess()) {
                        expect(out.length == 1 + content.length, "success, but bytes out: " + out.length);
                        expect(Arrays.equals(content, Arrays.copyOfRange(out, 1, out.length)), "other bytes went out");
                        return "success";
                    }
                    // a stream with a hole has ended; one in which nothing of the message is goes on
                    expect(!channel.isOpen() || out.length == 0, "the channel is open behind a hole: " + out.length);
                    throw failure(written.cause());
                } finally {
                    channel.finishAndReleaseAll();
                    expect(header.refCnt() == 0, "the header is kept");
                }
            };
        };
    }

    private static SealedBuffer many(FaultScene scene, int regions) {
        SealedBuffer[] parts = new SealedBuffer[regions];
        Arrays.fill(parts, scene.buffer(4));
        return scene.own(SealedBuffer.concat(parts));
    }

    private static FaultRun.Action writeToALoopThatIsDown(FaultScene scene) {
        SealedBuffer message = scene.buffer(300);
        return () -> {
            EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
            NioSocketChannel channel = new NioSocketChannel();
            loops.register(channel).sync();
            loops.shutdownGracefully(0, 60, TimeUnit.SECONDS).sync();
            SealedBuffer handle = message.share();
            ByteBuf header = Unpooled.directBuffer(1).writeByte(9);
            try {
                ChannelFuture written = SealedWrite.write(channel, header, handle);
                expect(written.isDone(), "the write never completes");
                return written.cause().getClass();
            } finally {
                expect(header.refCnt() == 0, "the header is kept");
            }
        };
    }

    // reads

    private static FaultRun.Action install(FaultScene scene) {
        return () -> {
            EmbeddedChannel channel = new EmbeddedChannel();
            try {
                FrameReader.install(channel, scene.source(), new Lengths(scene.points(), new ArrayList<>(), false));
                return channel.pipeline().names().size();
            } finally {
                channel.finishAndReleaseAll();
            }
        };
    }

    private static Operation readCopied(boolean skips) {
        return read(skips, (channel, stream) -> channel.writeInbound(Unpooled.copiedBuffer(stream)));
    }

    /// A failure in the first part must not make the reader take bytes of a body for a header in the second.
    private static Operation readCopiedInTwo() {
        return read(false, (channel, stream) -> {
            for (int at = 0; at < stream.length; ) {
                int end = Math.min(stream.length, at == 0 ? HEADER + 300 + 2 : at + 30_000);
                ByteBuf part = Unpooled.copiedBuffer(stream, at, end - at);
                if (channel.isOpen()) {
                    channel.pipeline().fireChannelRead(part);
                } else {
                    part.release();
                }
                at = end;
            }
        });
    }

    @FunctionalInterface
    private interface Feed {
        void feed(EmbeddedChannel channel, byte[] stream);
    }

    private static Operation read(boolean skips, Feed feed) {
        return scene -> () -> {
            List<byte[]> got = new ArrayList<>();
            Errors errors = new Errors();
            EmbeddedChannel channel = new EmbeddedChannel();
            FrameReader.install(channel, scene.source(), new Lengths(scene.points(), got, skips));
            channel.pipeline().addLast(errors);
            try {
                feed.feed(channel, stream());
                return outcome(got, errors.seen, channel.isOpen(), skips);
            } finally {
                channel.finishAndReleaseAll();
            }
        };
    }

    @SuppressWarnings("deprecation") // Netty's way to a loop of this thread
    private static Operation readStraight(boolean skips) {
        return scene -> () -> {
            List<byte[]> got = new ArrayList<>();
            Errors errors = new Errors();
            ManualIoEventLoop loop = new ManualIoEventLoop(Thread.currentThread(), NioIoHandler.newFactory());
            try (ServerSocketChannel server = ServerSocketChannel.open()
                            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                    SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
                // less than a socket holds
                client.write(ByteBuffer.wrap(stream()));
                client.shutdownOutput();
                Channel channel = new NioSocketChannel(null, server.accept());
                FrameReader.install(channel, scene.source(), new Lengths(scene.points(), got, skips));
                channel.pipeline().addLast(errors);
                loop.register(channel);
                // each turn reads, or finds the end: many more than there are reads to be done
                for (int turn = 0; channel.isOpen() && turn < 1000; turn++) {
                    loop.run(10_000_000);
                }
                expect(!channel.isOpen(), "the channel neither reads nor ends: frames=" + got.size());
                return outcome(got, errors.seen, false, skips);
            } finally {
                loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
                while (!loop.isTerminated()) {
                    loop.runNow();
                }
            }
        };
    }

    /// What was delivered are frames that were sent, in order, whatever failed between them.
    private static Object outcome(List<byte[]> got, List<Throwable> errors, boolean open, boolean skips)
            throws Exception {
        int next = 0;
        for (byte[] frame : got) {
            while (next < FRAMES.size() && !Arrays.equals(frame, content(next))) {
                next++;
            }
            expect(next++ < FRAMES.size(), "a frame that was not sent: bytes=" + frame.length);
        }
        List<Throwable> injected =
                errors.stream().filter(FaultPoints::isInjected).toList();
        if (injected.isEmpty()) {
            expect(errors.isEmpty(), "another failure: " + errors);
            expect(got.size() == FRAMES.size() || skips, "frames are missing: " + got.size());
            return got.size() == FRAMES.size() ? "all" : skipped(got);
        }
        expect(!open || got.size() >= FRAMES.size() - 1, "the channel is open and frames are missing: " + got.size());
        throw failure(injected.getFirst());
    }

    /// The format skips one frame for which there is no memory.
    private static Object skipped(List<byte[]> got) {
        expect(got.size() == FRAMES.size() - 1, "more than one frame is missing: " + got.size());
        throw new UnsupportedOperationException("one frame was skipped");
    }

    private static FaultRun.Action meteredAllocator(FaultScene scene) {
        MeteredAllocator meter = new MeteredAllocator(new Allocator(scene.points()));
        return () -> {
            long buffers = meter.buffers();
            long bytes = meter.bytes();
            ByteBuf heap = null;
            try {
                heap = meter.heapBuffer(10);
                meter.directBuffer(20).release();
                return List.of(meter.buffers() - buffers, meter.bytes() - bytes);
            } finally {
                if (heap == null) {
                    expect(meter.buffers() == buffers && meter.bytes() == bytes, "what was not handed out is counted");
                } else {
                    heap.release();
                }
            }
        };
    }

    // doubles

    private static final class Outbound extends ChannelOutboundHandlerAdapter {

        private final FaultPoints points;

        Outbound(FaultPoints points) {
            this.points = points;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            try {
                points.reach("ChannelOutboundHandler.write");
            } catch (Throwable failure) {
                // as Netty has it: a handler that fails has released what it got
                ReferenceCountUtil.release(message);
                throw failure;
            }
            context.write(message, promise);
        }

        @Override
        public void flush(ChannelHandlerContext context) {
            points.reach("ChannelOutboundHandler.flush");
            context.flush();
        }
    }

    private static final class Errors extends ChannelInboundHandlerAdapter {

        private final List<Throwable> seen = new ArrayList<>();

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            seen.add(cause);
        }
    }

    /// Four bytes of length.
    private record Lengths(FaultPoints points, List<byte[]> got, boolean skips) implements FrameFormat {

        @Override
        public int headerBytes() {
            points.reach("FrameFormat.headerBytes");
            return HEADER;
        }

        @Override
        public long bodyBytes(ByteBuffer header) throws IOException {
            int length = header.getInt();
            if (length < 0 || length > 100_000) {
                throw new IOException("not a header: length=" + length);
            }
            points.reachIo("FrameFormat.bodyBytes");
            return length;
        }

        @Override
        public boolean wantsBody() {
            points.reach("FrameFormat.wantsBody");
            return true;
        }

        @Override
        public boolean skipsWithoutMemory(RuntimeException why) {
            return skips && FaultPoints.isInjected(why);
        }

        @Override
        public void frame(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body) {
            try (body) {
                int length = header.getInt();
                expect(length == body.byteSize(), "header and body differ: length=" + length + " body=" + body);
                points.reach("FrameFormat.frame");
                got.add(bytesOf(body));
            }
        }
    }

    private static final class Allocator extends AbstractByteBufAllocator {

        private final ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
        private final FaultPoints points;

        Allocator(FaultPoints points) {
            this.points = points;
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            points.reach("ByteBufAllocator.heapBuffer");
            return allocator.heapBuffer(initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            points.reach("ByteBufAllocator.directBuffer");
            return allocator.directBuffer(initialCapacity, maxCapacity);
        }
    }

    // bytes

    private static byte[] content(int frame) {
        return FaultScene.bytes(FRAMES.get(frame), frame);
    }

    private static byte[] stream() {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        for (int i = 0; i < FRAMES.size(); i++) {
            stream.writeBytes(ByteBuffer.allocate(HEADER).putInt(FRAMES.get(i)).array());
            stream.writeBytes(content(i));
        }
        return stream.toByteArray();
    }

    private static byte[] bytesOf(SealedBuffer buffer) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        IoVec bytes = buffer.iovec();
        for (int i = 0; i < bytes.regionCount(); i++) {
            MemorySegment region = bytes.region(i);
            all.writeBytes(region.toArray(ValueLayout.JAVA_BYTE));
        }
        return all.toByteArray();
    }

    private static byte[] outbound(EmbeddedChannel channel) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (ByteBuf piece = channel.readOutbound(); piece != null; piece = channel.readOutbound()) {
            byte[] bytes = new byte[piece.readableBytes()];
            piece.readBytes(bytes);
            all.writeBytes(bytes);
            Unreleased.release(piece);
        }
        return all.toByteArray();
    }

    /// What the last release of a message throws is the user's listener's, and no loss.
    private static final class Unreleased {
        static void release(ByteBuf piece) {
            try {
                piece.release();
            } catch (Throwable failure) {
                if (!FaultPoints.isInjected(failure)) {
                    throw failure;
                }
            }
        }
    }

    private static Exception failure(Throwable why) throws Exception {
        if (why instanceof Error error) {
            throw error;
        }
        throw (Exception) why;
    }

    private static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
