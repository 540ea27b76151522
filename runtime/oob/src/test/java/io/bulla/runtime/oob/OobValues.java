// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Limits;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.fixture.HostMemory;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.NodeFiles;
import io.bulla.runtime.oob.security.OriginSignatures;
import io.bulla.runtime.oob.security.PeerIdentity;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.security.SharedSecret;
import io.bulla.runtime.oob.security.TlsCertificates;
import io.bulla.runtime.oob.topology.Binomial;
import io.bulla.runtime.oob.topology.DnsDirectory;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.bulla.runtime.oob.topology.PeersFile;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.runtime.oob.topology.Routing;
import io.bulla.runtime.oob.topology.Star;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;

/// How what a node is built with is called: values, builders, files, and what a user implements.
final class OobValues {

    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7);
    private static final PeerIdentity SELF = new PeerIdentity("trial", 0);
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = new HashMap<>();

    static {
        VALUES.put(int.class, scene -> 0);
        VALUES.put(long.class, scene -> 1L);
        VALUES.put(boolean.class, scene -> true);
        VALUES.put(String.class, scene -> "text");
        VALUES.put(Object.class, scene -> "another");
        VALUES.put(byte[].class, scene -> FaultScene.bytes(32, 3));
        VALUES.put(Duration.class, scene -> Duration.ofMinutes(1));
        VALUES.put(Optional.class, scene -> Optional.empty());
        VALUES.put(List.class, scene -> List.of());
        VALUES.put(InetSocketAddress.class, scene -> ADDRESS);
        VALUES.put(SocketAddress.class, scene -> ADDRESS);
        VALUES.put(ByteBuffer.class, scene -> ByteBuffer.allocate(LocalMemory.MOST_BYTES));
        VALUES.put(Channel.class, scene -> new EmbeddedChannel());
        VALUES.put(SealedBuffer.class, scene -> scene.buffer(300));
        VALUES.put(io.bulla.buffer.MemorySource.class, FaultScene::source);
        VALUES.put(Limits.class, scene -> Limits.DEFAULT);
        VALUES.put(WireFormat.class, scene -> WireFormat.PMIX_4);
        VALUES.put(Executor.class, scene -> (Executor) task -> {
            scene.points().reach("Executor.execute");
            task.run();
        });
        VALUES.put(Consumer.class, scene -> (Consumer<IOException>) failure -> {});
        VALUES.put(BiConsumer.class, scene -> (BiConsumer<Integer, IOException>) (peer, failure) -> {});
        VALUES.put(IntFunction.class, scene -> (IntFunction<CompletionStage<List<SocketAddress>>>) rank -> {
            scene.points().reach("IntFunction.apply");
            return CompletableFuture.completedStage(List.of(ADDRESS));
        });
        VALUES.put(DnsDirectory.Resolver.class, OobValues::resolver);
        VALUES.put(ByteBufAllocator.class, scene -> ByteBufAllocator.DEFAULT);
        VALUES.put(EventLoopGroup.class, scene -> null);
        VALUES.put(IoHandlerFactory.class, scene -> Transport.NIO.loops());
        VALUES.put(ServerSocketChannel.class, scene -> {
            try {
                return scene.own(ServerSocketChannel.open());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        add(Transport.NIO);
        add(Transport.class, Transport.NIO);
        add(new BroadcastResult(1, List.of(), 1));
        add(BroadcastSignatures.SIGN);
        add(ConnectionLimits.DEFAULT);
        add(new CutName(1, 2));
        add(Delivery.Status.WRITTEN);
        add(new Delivery(1, 2, Delivery.Status.WRITTEN, 3, 1, 4));
        add(PeerStats.State.IDLE);
        add(new PeerStats(1, PeerStats.State.IDLE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Optional.empty(), 0, 0, 0));
        add(SendOptions.DEFAULT);
        add(SELF);
        add(new Binomial());
        add(new Radix(2));
        add(new Star());
        add(NodeCut.class, new NodeCut(0, 2, List.of(), List.of()));
        add(new NodeCut.OfLane(1, 1, 1, List.of()));
        add(new NodeCut.OfPeer(1, lanes()));
        add(new NodeCut.Outgoing(1, 1, 2, Optional.empty(), 3, Optional.empty()));
        VALUES.put(Message.class, scene -> new Message(0, 1, Optional.of(WireFormat.PMIX_4), scene.buffer(300)));
        VALUES.put(Routing.class, scene -> new FaultDoubles.Children(scene.points(), new Binomial()));
        VALUES.put(PeerDirectory.class, scene -> new FaultDoubles.Directory(scene.points(), rank -> ADDRESS));
        VALUES.put(SendPolicy.class, scene -> new FaultDoubles.Policy(scene.points()));
        VALUES.put(Security.class, scene -> new FaultDoubles.Protection(scene.points(), Security.plaintext(), null));
        VALUES.put(OriginSignatures.class, scene -> new FaultDoubles.Signatures(scene.points()));
        VALUES.put(MessageHandler.class, scene ->
                (MessageHandler) message -> scene.points().reach("MessageHandler.received"));
        VALUES.put(NoticeReceiver.class, scene ->
                (NoticeReceiver) (peer, topic, text) -> scene.points().reach("NoticeReceiver.received"));
        VALUES.put(
                LocalMemory.class, scene -> new FaultDoubles.Neighbours(scene.points(), new HostMemory(1000).member()));
        VALUES.put(BulkTransport.class, OobValues::device);
    }

    private OobValues() {}

    private static void add(Object value) {
        add(value.getClass(), value);
    }

    private static void add(Class<?> type, Object value) {
        VALUES.put(type, scene -> value);
    }

    private static List<NodeCut.OfLane> lanes() {
        NodeCut.OfLane lane = new NodeCut.OfLane(1, 1, 1, List.of());
        return List.of(lane, lane, lane);
    }

    /// @param folder for keys
    static FaultCatalogue all(Path folder) {
        FaultCatalogue all = new FaultCatalogue(
                        "oob-operations",
                        OobNode.class,
                        NodeCut.class,
                        BulkTransport.class,
                        SharedSecret.class,
                        Routing.class)
                .values(VALUES::get)
                .records(VALUES::get);
        OobCalls.addTo(all);
        builders(all);
        records(all);
        topology(all);
        implemented(all);
        securities(all, NodeFiles.in(folder), folder);
        return all;
    }

    private static void builders(FaultCatalogue all) {
        all.receiver(OobNodeBuilder.class, scene -> OobNode.builder(0, 2));
        all.arguments("OobNodeBuilder.fragment(int)", 4096);
        all.arguments(
                "OobNodeBuilder.restore(NodeCut, CutName)", new NodeCut(0, 2, List.of(), List.of()), new CutName(1, 2));
    }

    private static void records(FaultCatalogue all) {
        all.arguments("BroadcastSignatures.valueOf(String)", "SIGN");
        all.arguments("Delivery.Status.valueOf(String)", "WRITTEN");
        all.arguments("PeerStats.State.valueOf(String)", "IDLE");
        all.arguments("ConnectionLimits.new(int, int, int)", 1, 1, 1);
        all.arguments(
                "Transport.new(IoHandlerFactory, Class, Class)",
                Transport.NIO.loops(),
                Transport.NIO.server(),
                Transport.NIO.client());
        all.on("NodeCut.new(int, int, List, List)", scene -> FaultCall.on(null, 0, 1, listOf(scene), List.of()));
        all.on(
                "NodeCut.new(int, int, List, List, List)",
                scene -> FaultCall.on(null, 0, 1, List.of(), listOf(scene), listOf(scene)));
        all.arguments("NodeCut.OfPeer.new(int, List)", 1, lanes());
        all.on("NodeCut.OfLane.new(long, long, long, List)", scene -> FaultCall.on(null, 1L, 1L, 1L, listOf(scene)));
        all.around("NodeCut.close()", close -> scene -> {
            SealedBuffer one = scene.buffer(300);
            SealedBuffer other = scene.lastHandle();
            return () -> {
                List<NodeCut.OfLane> lanes = List.of(
                        new NodeCut.OfLane(
                                1,
                                0,
                                0,
                                List.of(new NodeCut.Outgoing(
                                        1, 0, 2, Optional.empty(), one.byteSize(), Optional.of(one)))),
                        new NodeCut.OfLane(0, 0, 0, List.of()),
                        new NodeCut.OfLane(0, 0, 0, List.of()));
                NodeCut cut = new NodeCut(
                        0,
                        2,
                        List.of(new NodeCut.OfPeer(1, lanes)),
                        List.of(new Message(1, 2, Optional.empty(), other)));
                try {
                    return close.on(cut);
                } finally {
                    scene.points().disarm();
                    FaultWorld.expect(!one.isOpen() && !other.isOpen(), "a handle of the cut is open");
                }
            };
        });
        all.receiver(PeerFailedException.class, scene -> new PeerFailedException(1, "as told"));
        all.receiver(MessageRefusedException.class, scene -> new MessageRefusedException(1, 2, 3, "as told"));
    }

    private static <T> List<T> listOf(FaultScene scene) {
        return FaultDoubles.list(scene.points(), List.of());
    }

    private static void topology(FaultCatalogue all) {
        all.receiver(Routing.class, scene -> new FaultDoubles.Children(scene.points(), new Binomial()));
        for (String call : List.of("children", "parent")) {
            all.arguments("Routing." + call + "(int, int, int)", 3, 1, 7);
            for (String shape : List.of("Binomial", "Radix", "Star")) {
                all.arguments(shape + "." + call + "(int, int, int)", 3, 1, 7);
            }
        }
        all.arguments("Radix.level(int, int, int)", 3, 1, 7);
        all.arguments("Radix.new(int)", 2);
        all.receiver(PeerDirectory.class, scene -> new FaultDoubles.Directory(scene.points(), rank -> ADDRESS));
        all.around(
                "PeerDirectory.askedOn(Executor)",
                asked -> scene -> () -> {
                    PeerDirectory directory = new FaultDoubles.Directory(scene.points(), rank -> ADDRESS);
                    PeerDirectory late = (PeerDirectory)
                            asked.on(directory, VALUES.get(Executor.class).apply(scene));
                    return answer(late.lookUp(0));
                });
        all.around(
                "PeerDirectory.late(IntFunction)",
                late -> scene -> () -> answer(((PeerDirectory)
                                late.on(null, VALUES.get(IntFunction.class).apply(scene)))
                        .lookUp(0)));
        dns(all);
        all.receiver(PeersFile.class, scene -> PeersFile.of(List.of(ADDRESS)));
        all.on(
                "PeersFile.parse(String, List)",
                scene -> FaultCall.on(
                        null, "peers", FaultDoubles.list(scene.points(), List.of("0 127.0.0.1:7", "1 127.0.0.1:8"))));
        all.on("PeersFile.of(List)", scene -> FaultCall.on(null, FaultDoubles.list(scene.points(), List.of(ADDRESS))));
        all.arguments("PeersFile.address(String)", "127.0.0.1:7");
    }

    private static void dns(FaultCatalogue all) {
        all.receiver(DnsDirectory.Resolver.class, OobValues::resolver);
        all.receiver(DnsDirectory.class, scene -> DnsDirectory.of("node-{rank}.test:7"));
        all.arguments("DnsDirectory.of(String)", "node-{rank}.test:7");
        all.around("DnsDirectory.lookUp(int)", lookUp -> scene -> {
            DnsDirectory directory = DnsDirectory.of("node-{rank}.test:7")
                    .resolvedBy(resolver(scene))
                    .askedOn((Executor) VALUES.get(Executor.class).apply(scene));
            return () -> answer((CompletionStage<?>) lookUp.on(directory, 0));
        });
    }

    private static DnsDirectory.Resolver resolver(FaultScene scene) {
        return name -> {
            scene.points().reach("Resolver.resolve");
            return List.of(InetAddress.getLoopbackAddress());
        };
    }

    private static Object answer(CompletionStage<?> stage) throws Exception {
        try {
            return stage.toCompletableFuture().get(20, TimeUnit.SECONDS).toString();
        } catch (java.util.concurrent.ExecutionException failed) {
            if (failed.getCause() instanceof Error error) {
                throw error;
            }
            throw (Exception) failed.getCause();
        }
    }

    /// What a user implements is called once each, so that the list of operations has no hole; nodes call it above.
    private static void implemented(FaultCatalogue all) {
        for (Class<?> type : List.of(
                SendPolicy.class,
                Security.class,
                OriginSignatures.class,
                MessageHandler.class,
                NoticeReceiver.class,
                LocalMemory.class,
                BulkTransport.class)) {
            given(all, type);
        }
        all.on("OriginSignatures.check(int, byte[], byte[])", scene -> {
            byte[] statement = FaultScene.bytes(32, 3);
            try {
                return FaultCall.on(
                        new FaultDoubles.Signatures(scene.points()),
                        0,
                        statement,
                        new FaultDoubles.Signatures(scene.points()).sign(statement));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        all.around("SendPolicy.copying(MemorySource)", copying -> scene -> {
            SealedBuffer message = scene.buffer(300);
            return () -> ((SendPolicy) copying.on(null, scene.source())).outgoing(message);
        });
        all.on("LocalMemory.borrow(int, byte[])", scene -> {
            LocalMemory memory = new HostMemory(1000).member();
            return FaultCall.on(
                    new FaultDoubles.Neighbours(scene.points(), memory),
                    1,
                    memory.invite(1).invitation());
        });
        all.receiver(
                LocalMemory.Lender.class,
                scene -> new FaultDoubles.Lent(
                        scene.points(), new HostMemory(1000).member().invite(1)));
        all.receiver(LocalMemory.Borrower.class, OobValues::borrower);
        for (String call : List.of("Lender.lend(SealedBuffer, ByteBuffer)", "Borrower.open(ByteBuffer)")) {
            all.around("LocalMemory." + call, member -> scene -> {
                HostMemory host = new HostMemory(1000);
                LocalMemory.Lender lender =
                        new FaultDoubles.Lent(scene.points(), host.member().invite(1));
                LocalMemory.Borrower borrower = borrower(scene, host.member(), lender);
                SealedBuffer message =
                        scene.own(SealedBuffer.adopt(Arena.ofAuto().allocate(300), () -> {}));
                // whatever was not opened is over with the mapping
                scene.own((AutoCloseable) borrower::close);
                return () -> {
                    ByteBuffer place = ByteBuffer.allocate(LocalMemory.MOST_BYTES);
                    if (call.startsWith("Lender")) {
                        return member.on(lender, message, place);
                    }
                    lender.lend(message, place);
                    try (SealedBuffer same = (SealedBuffer) member.on(borrower, place.flip())) {
                        return same.byteSize();
                    }
                };
            });
        }
        all.receiver(BulkLine.class, scene -> line(scene, new MemoryBulk.Net()));
        all.arguments("BulkLine.connect(byte[])", (Object) new byte[] {'m', 'e', 'm'});
        all.around("BulkLine.write(SealedBuffer, long, long)", write -> scene -> {
            BulkLine line = line(scene, new MemoryBulk.Net());
            SealedBuffer message = scene.buffer(300);
            return () -> {
                BulkLanding landing = line.land(300);
                CompletionStage<?> written =
                        (CompletionStage<?>) write.on(line, message, landing.key(), landing.target());
                written.toCompletableFuture().get(20, TimeUnit.SECONDS);
                try (SealedBuffer landed = landing.seal()) {
                    return landed.byteSize();
                }
            };
        });
        all.receiver(BulkLanding.class, scene -> {
            try {
                return line(scene, new MemoryBulk.Net()).land(300);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // as the map has it
    private static void given(FaultCatalogue all, Class type) {
        all.receiver(type, VALUES.get(type));
    }

    private static LocalMemory.Borrower borrower(FaultScene scene) {
        LocalMemory memory = new HostMemory(1000).member();
        return borrower(scene, memory, memory.invite(1));
    }

    private static LocalMemory.Borrower borrower(FaultScene scene, LocalMemory memory, LocalMemory.Lender lender) {
        return new FaultDoubles.Borrowed(
                scene.points(),
                memory.borrow(1, lender.invitation()).toCompletableFuture().join());
    }

    private static BulkTransport device(FaultScene scene) {
        return new FaultDoubles.Device(scene.points(), new MemoryBulk(new MemoryBulk.Net(), scene.source()));
    }

    private static BulkLine line(FaultScene scene, MemoryBulk.Net net) {
        try {
            return new FaultDoubles.Line(
                    scene.points(), new MemoryBulk(net, scene.source()).open("peer", failure -> {}));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void securities(FaultCatalogue all, NodeFiles files, Path folder) {
        try {
            SharedSecret secret = (SharedSecret) files.secret(0);
            TlsCertificates certified = (TlsCertificates) files.certified(0);
            all.receiver(SharedSecret.class, scene -> secret);
            all.receiver(TlsCertificates.class, scene -> certified);
            all.arguments("SharedSecret.of(byte[], PeerIdentity)", FaultScene.bytes(32, 3), SELF);
            all.arguments("SharedSecret.ofFile(Path, PeerIdentity)", files.secretFile(), SELF);
            Object[] own = files.certifiedFiles(0).toArray();
            all.arguments("TlsCertificates.ofFiles(Path, Path, Path)", own);
            all.arguments("TlsCertificates.rotate(Path, Path, Path)", own);
            for (String security : List.of("SharedSecret", "TlsCertificates")) {
                Security proven = security.equals("SharedSecret") ? secret : certified;
                all.around(
                        security + ".peerOf(Channel)",
                        asked -> scene -> () -> {
                            try {
                                return asked.on(proven, new EmbeddedChannel());
                            } catch (IOException notProven) {
                                throw new UnsupportedOperationException("no peer has proven anything", notProven);
                            }
                        });
            }
            all.on("PeersFile.read(Path)", scene -> FaultCall.on(null, peers(folder)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path peers(Path folder) {
        try {
            return java.nio.file.Files.writeString(folder.resolve("peers"), "0 127.0.0.1:7\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
