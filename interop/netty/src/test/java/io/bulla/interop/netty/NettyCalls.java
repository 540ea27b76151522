// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
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
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// How the operations of `interop/netty` are called: with handlers, listeners, formats, allocators and memory that
/// may fail or call back.
final class NettyCalls {

    static final int HEADER = 4;
    private static final String INSTALL = "FrameReader.install(Channel, MemorySource, FrameFormat)";
    private static final List<Integer> FRAMES = List.of(300, 0, 7, 70_000, 12);
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = Map.of(
            RuntimeException.class,
            scene -> new IllegalStateException("no memory"),
            ByteBuffer.class,
            scene -> ByteBuffer.allocate(HEADER).putInt(300).flip(),
            ChannelHandlerContext.class,
            scene -> new EmbeddedChannel(new ChannelInboundHandlerAdapter())
                    .pipeline()
                    .firstContext(),
            SealedBuffer.class,
            scene -> scene.buffer(300));

    private NettyCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("netty", FrameReader.class).values(VALUES::get);
        for (int regions : new int[] {1, 1030, 2060}) {
            all.around("SealedWrite.share(Channel, ByteBuf, SealedBuffer)", write -> write(write, regions));
            all.around("SealedWrite.move(Channel, ByteBuf, SealedBuffer)", write -> write(write, regions));
        }
        all.around("SealedWrite.share(Channel, ByteBuf, SealedBuffer)", NettyCalls::writeToALoopThatIsDown);
        all.around("SealedWrite.move(Channel, ByteBuf, SealedBuffer)", NettyCalls::writeToALoopThatIsDown);
        for (int regions : new int[] {0, 1, 3}) {
            all.around("SealedByteBuf.share(SealedBuffer)", made -> counted(made, regions));
            all.around("SealedByteBuf.share(SealedBuffer, NioViews)", made -> viewed(made, regions));
            all.around("SealedByteBuf.move(SealedBuffer)", made -> counted(made, regions));
        }
        for (boolean skips : new boolean[] {false, true}) {
            all.around(INSTALL, install -> read(install, skips, NettyCalls::whole));
            all.around(INSTALL, install -> readStraight(install, skips));
            all.around(
                    "FrameReader.channelRead(ChannelHandlerContext, Object)",
                    read -> read(NettyCalls::install, skips, (channel, stream) -> called(read, channel, stream)));
        }
        all.around(INSTALL, install -> read(install, false, NettyCalls::inTwo));
        for (String end : List.of("channelInactive", "handlerRemoved", "handlerAdded")) {
            all.around("FrameReader." + end + "(ChannelHandlerContext)", NettyCalls::told);
        }
        for (String figure : List.of("buffers()", "bytes()", "isDirectBufferPooled()")) {
            all.around(
                    "MeteredAllocator." + figure,
                    asked -> scene -> metered(
                            scene, new MeteredAllocator(new NettyDoubles.Allocator(scene.points())), asked::on));
        }
        all.around(
                "MeteredAllocator.new(ByteBufAllocator)",
                made -> scene -> () -> metered(
                                scene,
                                (MeteredAllocator) made.on(null, new NettyDoubles.Allocator(scene.points())),
                                (meter, none) -> List.of())
                        .run());
        return all.receiver(
                        FrameFormat.class, scene -> new NettyDoubles.Lengths(scene.points(), new ArrayList<>(), true))
                .receiver(FrameFormat.class, scene -> new NettyDoubles.Plain(scene.points()));
    }

    // writes

    private static Operation write(Member write, int regions) {
        return scene -> {
            // the first one loads Netty's classes
            scene.mayTake(64 << 20);
            SealedBuffer message = regions == 1 ? scene.buffer(300) : many(scene, regions);
            byte[] content = bytesOf(message);
            NettyDoubles.Ending ending = new NettyDoubles.Ending(scene);
            return () -> {
                EmbeddedChannel channel = ending.of(new EmbeddedChannel(new NettyDoubles.Outbound(scene.points())));
                List<Boolean> told = new ArrayList<>();
                SealedBuffer handle = scene.own(message.share());
                ByteBuf header = Unpooled.directBuffer(1).writeByte(9);
                try {
                    ChannelFuture written = (ChannelFuture) write.on(null, channel, header, handle);
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
                    if (ending.called) {
                        return "closed";
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

    private interface Making {
        @Nullable
        Object of(SealedBuffer given) throws Exception;
    }

    private static Operation counted(Member made, int regions) {
        return counted(given -> made.on(null, given), regions);
    }

    private static Operation viewed(Member made, int regions) {
        return counted(given -> made.on(null, given, NioViews.of(given)), regions);
    }

    private static Operation counted(Making making, int regions) {
        return scene -> {
            SealedBuffer message = switch (regions) {
                case 0 -> scene.own(SealedBuffer.concat());
                case 1 -> scene.buffer(300);
                default -> many(scene, regions);
            };
            byte[] content = bytesOf(message);
            return () -> {
                try (SealedBuffer given = message.share()) {
                    ByteBuf bytes = (ByteBuf) making.of(given);
                    byte[] read = new byte[bytes.readableBytes()];
                    bytes.readBytes(read);
                    Unreleased.release(bytes);
                    expect(Arrays.equals(content, read), "other bytes: " + read.length);
                    return "read";
                }
            };
        };
    }

    private static SealedBuffer many(FaultScene scene, int regions) {
        SealedBuffer[] parts = new SealedBuffer[regions];
        Arrays.fill(parts, scene.buffer(4));
        return scene.own(SealedBuffer.concat(parts));
    }

    private static Operation writeToALoopThatIsDown(Member write) {
        return scene -> {
            SealedBuffer message = scene.buffer(300);
            return () -> {
                EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
                NioSocketChannel channel = new NioSocketChannel();
                loops.register(channel).sync();
                loops.shutdownGracefully(0, 60, TimeUnit.SECONDS).sync();
                SealedBuffer handle = scene.own(message.share());
                ByteBuf header = Unpooled.directBuffer(1).writeByte(9);
                try {
                    ChannelFuture written = (ChannelFuture) write.on(null, channel, header, handle);
                    expect(written.isDone(), "the write never completes");
                    return written.cause().getClass().getName();
                } finally {
                    expect(header.refCnt() == 0, "the header is kept");
                }
            };
        };
    }

    // reads

    private static Object install(Object none, Object... arguments) {
        FrameReader.install((Channel) arguments[0], (MemorySource) arguments[1], (FrameFormat) arguments[2]);
        return "installed";
    }

    @FunctionalInterface
    private interface Feed {
        void feed(EmbeddedChannel channel, byte[] stream) throws Exception;
    }

    private static void whole(EmbeddedChannel channel, byte[] stream) {
        channel.pipeline().fireChannelRead(Unpooled.copiedBuffer(stream));
    }

    /// A failure in the first part must not make the reader take bytes of a body for a header in the second.
    private static void inTwo(EmbeddedChannel channel, byte[] stream) {
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
    }

    private static void called(Member read, EmbeddedChannel channel, byte[] stream) throws Exception {
        FrameReader reader = channel.pipeline().get(FrameReader.class);
        read.on(reader, channel.pipeline().context(reader), Unpooled.copiedBuffer(stream));
    }

    private static Operation read(Member install, boolean skips, Feed feed) {
        return scene -> {
            NettyDoubles.Ending ending = new NettyDoubles.Ending(scene);
            return () -> {
                List<byte[]> got = new ArrayList<>();
                NettyDoubles.Errors errors = new NettyDoubles.Errors();
                EmbeddedChannel channel = ending.of(new EmbeddedChannel());
                try {
                    install.on(null, channel, scene.source(), new NettyDoubles.Lengths(scene.points(), got, skips));
                    channel.pipeline().addLast(errors);
                    feed.feed(channel, stream());
                    return outcome(got, errors.seen, channel.isOpen(), skips, ending);
                } finally {
                    channel.finishAndReleaseAll();
                }
            };
        };
    }

    @SuppressWarnings("deprecation") // Netty's way to a loop of this thread
    private static Operation readStraight(Member install, boolean skips) {
        return scene -> {
            NettyDoubles.Ending ending = new NettyDoubles.Ending(scene);
            return () -> {
                List<byte[]> got = new ArrayList<>();
                NettyDoubles.Errors errors = new NettyDoubles.Errors();
                ManualIoEventLoop loop = new ManualIoEventLoop(Thread.currentThread(), NioIoHandler.newFactory());
                try (ServerSocketChannel server = ServerSocketChannel.open()
                                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                        SocketChannel client = SocketChannel.open(server.getLocalAddress());
                        SocketChannel accepted = server.accept()) {
                    // less than a socket holds
                    client.write(ByteBuffer.wrap(stream()));
                    client.shutdownOutput();
                    Channel channel = ending.of(new NioSocketChannel(null, accepted));
                    install.on(null, channel, scene.source(), new NettyDoubles.Lengths(scene.points(), got, skips));
                    channel.pipeline().addLast(errors);
                    loop.register(channel);
                    // each turn reads, or finds the end: many more than there are reads to be done
                    for (int turn = 0; channel.isOpen() && turn < 1000; turn++) {
                        loop.run(10_000_000);
                    }
                    expect(!channel.isOpen(), "the channel neither reads nor ends: frames=" + got.size());
                    return outcome(got, errors.seen, false, skips, ending);
                } finally {
                    loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
                    while (!loop.isTerminated()) {
                        loop.runNow();
                    }
                }
            };
        };
    }

    /// Of the end in the middle of a frame, or of its own place in the pipeline.
    private static Operation told(Member event) {
        return scene -> {
            NettyDoubles.Ending ending = new NettyDoubles.Ending(scene);
            return () -> {
                List<byte[]> got = new ArrayList<>();
                EmbeddedChannel channel = ending.of(new EmbeddedChannel());
                NettyDoubles.Errors errors = new NettyDoubles.Errors();
                try {
                    FrameReader.install(channel, scene.source(), new NettyDoubles.Lengths(scene.points(), got, false));
                    channel.pipeline().addLast(errors);
                    FrameReader reader = channel.pipeline().get(FrameReader.class);
                    ChannelHandlerContext context = channel.pipeline().context(reader);
                    channel.pipeline().fireChannelRead(Unpooled.copiedBuffer(stream(), 0, HEADER + 300 + HEADER + 40));
                    event.on(reader, context);
                    // that the connection ends inside of a frame is no failure
                    errors.seen.removeIf(EOFException.class::isInstance);
                    if (!ending.called && !errors.seen.isEmpty()) {
                        throw failure(errors.seen.getFirst());
                    }
                    return ending.called ? "closed" : got.size();
                } finally {
                    finish(channel);
                }
            };
        };
    }

    /// A handler that is told once more behind its end says so to the channel.
    private static void finish(EmbeddedChannel channel) {
        try {
            channel.finishAndReleaseAll();
        } catch (Exception failure) {
            if (!(failure instanceof EOFException)) {
                throw failure;
            }
        }
    }

    /// What was delivered are frames that were sent, in order, whatever failed between them.
    private static Object outcome(
            List<byte[]> got, List<Throwable> errors, boolean open, boolean skips, NettyDoubles.Ending ending)
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
        if (ending.called) {
            expect(!open || ending.removed, "the channel is open");
            return "closed";
        }
        if (injected.isEmpty()) {
            if (!errors.isEmpty()) {
                // perhaps one that says that something is over
                throw failure(errors.getFirst());
            }
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

    private static FaultRun.Action metered(FaultScene scene, MeteredAllocator meter, Member asked) {
        return () -> {
            long buffers = meter.buffers();
            long bytes = meter.bytes();
            ByteBuf heap = null;
            try {
                heap = meter.heapBuffer(10);
                meter.directBuffer(20).release();
                asked.on(meter);
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

    static byte[] bytesOf(SealedBuffer buffer) {
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

    static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
