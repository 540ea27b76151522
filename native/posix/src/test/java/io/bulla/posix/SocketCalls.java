// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.socket.Outbox;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.posix.socket.SendPath;
import io.bulla.posix.socket.SocketSend;
import io.bulla.posix.socket.ZeroCopySocket;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/// How the operations of `io.bulla.posix.socket` are called: buffers whose memory, releases and listeners may fail or
/// call back, over each kind of socket and each way to the kernel.
final class SocketCalls {

    private static final int BYTES = 64;
    private static final List<String> SENDS = List.of("shareAndSend", "moveAndSend");
    private static final List<Function<FaultScene, SealedBuffer>> HANDLES =
            List.of(scene -> scene.buffer(300), FaultScene::lastHandle, SocketCalls::adopted);
    private static final List<SendPath> PATHS = List.of(SendPath.SENDMSG, SendPath.URING, SendPath.URING_ZC);

    private SocketCalls() {}

    static void in(FaultCatalogue all, Path folder) {
        ends(all, folder);
        sends(all);
        outboxes(all);
        zeroCopy(all);
    }

    private static void ends(FaultCatalogue all, Path folder) {
        PosixCalls.receiver(all, PosixSocket.class, scene -> unixPair(scene)[0]);
        PosixCalls.receiver(all, PosixSocket.class, scene -> tcpPair(scene)[0]);
        all.arguments("PosixSocket.awaitReadable(int)", 0);
        all.arguments("PosixSocket.awaitWritable(int)", 0);
        all.arguments("PosixSocket.setSendBuffer(int)", 4096);
        all.on("PosixSocket.accept()", scene -> {
            PosixSocket server = server(scene);
            PosixCalls.made(() -> scene.own(PosixSocket.connect(server.port())));
            return FaultCall.on(server);
        });
        all.on("PosixSocket.port()", scene -> {
            scene.mayVary();
            return FaultCall.on(server(scene));
        });
        all.on("PosixSocket.connect(int)", scene -> {
            PosixSocket server = server(scene);
            return FaultCall.on(null, (int) PosixCalls.made(server::port));
        });
        all.on("PosixSocket.connect(InetSocketAddress)", scene -> {
            PosixSocket server = server(scene);
            return FaultCall.on(null, loopback(PosixCalls.made(server::port)));
        });
        all.on("PosixSocket.connect(Path)", scene -> {
            Path path = PosixCalls.fresh(folder);
            PosixCalls.made(() -> scene.own(PosixSocket.listen(path)));
            return FaultCall.on(null, path);
        });
        all.arguments("PosixSocket.listen(int)", 0);
        all.on("PosixSocket.listen(InetSocketAddress)", scene -> FaultCall.on(null, loopback(0)));
        // the same path again after a failure: it is free
        all.on("PosixSocket.listen(Path)", scene -> FaultCall.on(null, PosixCalls.fresh(folder)));
        all.on("PosixSocket.receive(MemorySegment)", scene -> {
            PosixSocket[] pair = unixPair(scene);
            PosixCalls.made(() -> {
                pair[1].moveAndSend(scene.buffer(BYTES));
                return null;
            });
            return FaultCall.on(pair[0], Arena.ofAuto().allocate(BYTES));
        });
    }

    private static void sends(FaultCatalogue all) {
        for (Function<FaultScene, PosixSocket[]> pairs :
                List.<Function<FaultScene, PosixSocket[]>>of(SocketCalls::unixPair, SocketCalls::tcpPair)) {
            for (Function<FaultScene, SealedBuffer> handle : HANDLES) {
                for (String send : SENDS) {
                    all.on("PosixSocket." + send + "(SealedBuffer)", scene -> {
                        scene.noCopy();
                        PosixSocket socket = pairs.apply(scene)[0];
                        scene.callBack("socket.close", socket::close);
                        scene.callBack("socket.abort", socket::abort);
                        return FaultCall.with(socket, same -> new Object[] {handle.apply(scene)});
                    });
                }
            }
            for (String send : new String[] {"writev", "sendmsg"}) {
                all.on(
                        "PosixSocket." + send + "(NativeIoVecCursor)",
                        scene -> FaultCall.with(pairs.apply(scene)[0], same -> new Object[] {cursor(scene)}));
            }
            all.on(
                    "PosixSocket.sendmmsg(NativeIoVecCursor[])",
                    scene -> FaultCall.with(pairs.apply(scene)[0], same ->
                            new Object[] {new NativeIoVecCursor[] {cursor(scene), cursor(scene)}}));
        }
    }

    private static void outboxes(FaultCatalogue all) {
        for (SendPath path : PATHS) {
            all.receiver(Outbox.class, scene -> sending(scene, path));
            for (Function<FaultScene, SealedBuffer> handle : HANDLES) {
                for (String send : SENDS) {
                    all.on("Outbox." + send + "(PosixSocket, SealedBuffer)", scene -> {
                        PosixSocket socket = unixPair(scene)[0];
                        Outbox outbox = outbox(scene, path, socket);
                        return FaultCall.with(outbox, same -> new Object[] {socket, handle.apply(scene)});
                    });
                }
            }
            all.on("Outbox.progress(int)", scene -> {
                scene.mayVary();
                return FaultCall.on(sending(scene, path), 0);
            });
            all.on("Outbox.open(SendPath)", scene -> {
                // a ring that the system refuses is none
                scene.mayVary();
                return FaultCall.on(null, path);
            });
        }
        all.on("Outbox.open()", scene -> {
            scene.mayVary();
            return FaultCall.on(null);
        });
        PosixCalls.receiver(all, SocketSend.class, scene -> {
            PosixSocket socket = unixPair(scene)[0];
            Outbox outbox = outbox(scene, SendPath.SENDMSG, socket);
            return PosixCalls.made(() -> outbox.moveAndSend(socket, scene.buffer(300)));
        });
    }

    private static Outbox outbox(FaultScene scene, SendPath path, PosixSocket socket) {
        Outbox outbox = scene.own(Outbox.open(path));
        scene.mayTake(16 << 20);
        scene.callBack("outbox.progress", FailingCalls.back(() -> outbox.progress(0)));
        scene.callBack("outbox.send", FailingCalls.back(() -> outbox.moveAndSend(socket, scene.buffer(BYTES))));
        scene.callBack(
                "outbox.send to another",
                FailingCalls.back(() -> outbox.moveAndSend(unixPair(scene)[0], scene.buffer(BYTES))));
        scene.callBack("outbox.close", outbox::close);
        scene.callBack("socket.close", socket::close);
        scene.callBack("socket.abort", socket::abort);
        return outbox;
    }

    /// With a send on each of two sockets, and one behind it.
    private static Outbox sending(FaultScene scene, SendPath path) {
        PosixSocket one = unixPair(scene)[0];
        PosixSocket two = unixPair(scene)[0];
        Outbox outbox = outbox(scene, path, one);
        return PosixCalls.made(() -> {
            outbox.moveAndSend(one, scene.buffer(300));
            outbox.moveAndSend(two, scene.lastHandle());
            outbox.moveAndSend(one, adopted(scene));
            return outbox;
        });
    }

    private static void zeroCopy(FaultCatalogue all) {
        PosixCalls.receiver(all, ZeroCopySocket.class, SocketCalls::zeroCopySocket);
        for (String number : new String[] {"reap()", "isFinished()", "copiedCalls()", "notifiedCalls()"}) {
            all.on("ZeroCopySocket." + number, scene -> {
                // the kernel is done with a call when it is
                scene.mayVary();
                return FaultCall.on(zeroCopySocket(scene));
            });
        }
        for (Function<FaultScene, SealedBuffer> handle : HANDLES) {
            for (String send : SENDS) {
                all.on("ZeroCopySocket." + send + "(SealedBuffer)", scene -> {
                    ZeroCopySocket socket = zeroCopySocket(scene);
                    return FaultCall.with(socket, same -> new Object[] {handle.apply(scene)});
                });
            }
        }
        all.on("ZeroCopySocket.over(PosixSocket)", scene -> FaultCall.on(null, tcpPair(scene)[0]));
    }

    private static ZeroCopySocket zeroCopySocket(FaultScene scene) {
        PosixSocket socket = tcpPair(scene)[0];
        return PosixCalls.made(() -> {
            ZeroCopySocket zeroCopy = ZeroCopySocket.over(socket);
            AutoCloseable closing = () -> closeTelling(zeroCopy);
            scene.own(closing);
            zeroCopy.moveAndSend(scene.buffer(300));
            zeroCopy.moveAndSend(adopted(scene));
            scene.callBack("zeroCopy.reap", FailingCalls.back(zeroCopy::reap));
            scene.callBack("zeroCopy.send", FailingCalls.back(() -> zeroCopy.moveAndSend(scene.buffer(BYTES))));
            scene.callBack("zeroCopy.close", zeroCopy::close);
            scene.callBack("socket.abort", socket::abort);
            return zeroCopy;
        });
    }

    /// It may have kept what a release threw in a send: it is closed all the same.
    private static void closeTelling(ZeroCopySocket socket) {
        try {
            socket.close();
        } catch (RuntimeException | Error kept) {
            if (!FaultPoints.isInjected(kept)) {
                throw kept;
            }
        }
    }

    static PosixSocket[] unixPair(FaultScene scene) {
        return scene.own(PosixCalls.made(PosixSocket::unixPair));
    }

    private static PosixSocket[] tcpPair(FaultScene scene) {
        return PosixCalls.made(() -> {
            try (PosixSocket server = PosixSocket.listen(0)) {
                PosixSocket client = scene.own(PosixSocket.connect(server.port()));
                return new PosixSocket[] {client, scene.own(server.accept())};
            }
        });
    }

    private static PosixSocket server(FaultScene scene) {
        return scene.own(PosixCalls.made(() -> PosixSocket.listen(0)));
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static SealedBuffer adopted(FaultScene scene) {
        return scene.own(SealedBuffer.adopt(Arena.ofAuto().allocate(BYTES), scene.onRelease()));
    }

    private static NativeIoVecCursor cursor(FaultScene scene) {
        Arena arena = Arena.ofAuto();
        return NativeIoVecCursor.of(NativeIoVec.of(scene.lastHandle().iovec(), arena), arena, 8);
    }
}
