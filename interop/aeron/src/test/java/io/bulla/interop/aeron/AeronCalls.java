// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.Image;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.logbuffer.ControlledFragmentHandler.Action;
import io.aeron.logbuffer.FrameDescriptor;
import io.aeron.logbuffer.Header;
import io.aeron.protocol.DataHeaderFlyweight;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTrace;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// How the operations of `interop/aeron` are called: with handlers, headers and memory that may fail or call back.
final class AeronCalls {

    private static final int STREAM = 10;
    private static final int LIMIT = 100_000;
    /// Of the messages that arrive, and how many fragments each has.
    private static final int[] BYTES = {3000, 20, 9000, 0, 40};

    private static final int[] FRAGMENTS = {3, 1, 9, 1, 1};
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = Map.of(
            long.class,
            scene -> 1L,
            Object.class,
            scene -> "another",
            OfferResult.class,
            scene -> new OfferResult(OfferResult.Outcome.ACCEPTED, 1),
            OfferResult.Outcome.class,
            scene -> OfferResult.Outcome.ACCEPTED,
            MemorySource.class,
            FaultScene::source,
            SealedBuffer.class,
            scene -> scene.buffer(300),
            Header.class,
            scene -> new Header(0, 16),
            SealedMessageHandler.class,
            AeronCalls::handler);

    /// One of a log.
    private record Fragment(UnsafeBuffer log, int at, int length) {

        int offset() {
            return at + DataHeaderFlyweight.HEADER_LENGTH;
        }

        Header header() {
            return header(null);
        }

        Header header(@Nullable Object context) {
            Header header = new Header(0, 16, context);
            header.buffer(log);
            header.offset(at);
            return header;
        }
    }

    /// What there is in every step.
    record Media(
            Publication publication,
            Subscription subscription,
            Runnable poll,
            Arrivals arrivals,
            Embedded embedded,
            Path folder) {

        static Media of(Embedded embedded, SealedAssembler assembler, Arrivals arrivals, Path folder) {
            Subscription subscription = embedded.subscribe(Embedded.IPC, assembler);
            return new Media(
                    embedded.publish(subscription),
                    subscription,
                    () -> subscription.poll(assembler, 10),
                    arrivals,
                    embedded,
                    folder);
        }
    }

    private AeronCalls() {}

    /// @param media `null` if nothing is run
    static FaultCatalogue all(@Nullable Media media) {
        FaultCatalogue all = new FaultCatalogue("aeron", SealedOffer.class)
                .values(VALUES::get)
                .records(VALUES::get)
                .receiver(SealedMessageHandler.class, AeronCalls::handler);
        all.on("OfferResult.Outcome.valueOf(String)", scene -> FaultCall.on(null, "ACCEPTED"));
        for (boolean limited : new boolean[] {false, true}) {
            all.around(
                    "SealedAssembler.onFragment(DirectBuffer, int, int, Header)", member -> assemble(member, limited));
            all.around(
                    "SealedAssembler.onControlledFragment(DirectBuffer, int, int, Header)",
                    member -> assemble(member, limited));
        }
        all.on("SealedAssembler.close()", scene -> FaultCall.on(half(scene, null)));
        all.on("SealedAssembler.halves()", scene -> FaultCall.on(half(scene, null)));
        all.on("SealedAssembler.onUnavailableImage(Image)", scene -> {
            Image image = media.subscription().imageAtIndex(0);
            return FaultCall.on(half(scene, image), image);
        });
        all.on(
                "SealedOffer.vectors(DirectBuffer, IoVec)",
                scene -> FaultCall.on(
                        null, header(scene.points()), scene.lastHandle().iovec()));
        for (int[] message : new int[][] {{300, 1}, {300, 3}, {20_000, 1}}) {
            all.around(
                    "SealedOffer.offer(Publication, DirectBuffer, SealedBuffer)",
                    offer -> offer(media, message[0], message[1], (publication, header, buffer) ->
                            (OfferResult) offer.on(null, publication, header, buffer)));
            all.around(
                    "SealedOffer.offer(Publication, SealedBuffer)",
                    offer -> offer(media, message[0], message[1], (publication, header, buffer) ->
                            (OfferResult) offer.on(null, publication, buffer)));
        }
        PlaceCalls.in(all, media == null ? null : media.embedded(), media == null ? null : media.folder());
        return all;
    }

    private static SealedMessageHandler handler(FaultScene scene) {
        return (message, header) -> {
            message.close();
            scene.points().reach("SealedMessageHandler.onMessageMoved, done");
        };
    }

    // messages that arrive

    /// @param limited whether what fails in the source is a lack of memory
    private static Operation assemble(Member member, boolean limited) {
        return scene -> {
            Ending ending = new Ending(scene);
            return () -> {
                FaultPoints points = scene.points();
                List<byte[]> got = new ArrayList<>();
                List<Throwable> errors = new ArrayList<>();
                MemorySource source = limited ? new Limited(scene.source()) : scene.source();
                SealedAssembler assembler = new SealedAssembler(source, LIMIT, (message, header) -> {
                    try (message) {
                        points.reach("SealedMessageHandler.onMessageMoved");
                        got.add(bytesOf(message));
                    }
                });
                ending.assembler = assembler;
                try {
                    for (Fragment fragment : log()) {
                        poll(member, assembler, fragment, errors);
                    }
                    expect(assembler.halves() == 0, "half messages stay: " + assembler.halves());
                    return outcome(got, errors, ending.called);
                } finally {
                    assembler.close();
                }
            };
        };
    }

    /// What a call that calls back does to the assembler.
    private static final class Ending {

        private @Nullable SealedAssembler assembler;
        private boolean called;

        Ending(FaultScene scene) {
            scene.callBack("assembler.close", () -> {
                if (assembler != null) {
                    called = true;
                    assembler.halves();
                    assembler.close();
                }
            });
        }
    }

    /// As Aeron: what is thrown goes to the error handler, and the fragment does not come again.
    private static void poll(Member member, SealedAssembler assembler, Fragment fragment, List<Throwable> errors) {
        try {
            int again = 0;
            while (member.on(assembler, fragment.log, fragment.offset(), fragment.length, fragment.header())
                    == Action.ABORT) {
                expect(++again < 10, "the fragment comes again for ever");
            }
        } catch (AssertionError wrong) {
            throw wrong;
        } catch (Throwable failure) {
            errors.add(failure);
        }
    }

    /// One message may be missing, for the exception that says so.
    private static Object outcome(List<byte[]> got, List<Throwable> errors, boolean ended) throws Exception {
        int next = 0;
        for (byte[] message : got) {
            while (next < BYTES.length && !Arrays.equals(message, content(next))) {
                next++;
            }
            expect(next++ < BYTES.length, "a message that was not sent, or again: bytes=" + message.length);
        }
        if (ended) {
            return "given up";
        }
        if (errors.stream().noneMatch(FaultPoints::isInjected) && !errors.isEmpty()) {
            // perhaps the source is closed, and every message says so
            throw thrown(errors.getFirst());
        }
        expect(errors.size() <= 1, "more than one failure: " + errors);
        if (errors.isEmpty()) {
            expect(got.size() == BYTES.length, "messages are missing: " + got.size());
            return "all";
        }
        expect(got.size() >= BYTES.length - 1, "other messages are missing: " + got.size());
        throw thrown(errors.getFirst());
    }

    /// With the first fragments of three sessions.
    private static SealedAssembler half(FaultScene scene, @Nullable Image image) {
        SealedAssembler assembler = new SealedAssembler(scene.source(), LIMIT, (message, header) -> message.close());
        scene.own((AutoCloseable) assembler::close);
        scene.callBack("assembler.close", assembler::close);
        for (int session = 1; session <= 3; session++) {
            Fragment first = fragments(session, 0, 3000, 3).getFirst();
            Header header = first.header(image);
            assembler.onFragment(first.log, first.offset(), first.length, header);
        }
        return assembler;
    }

    // offers

    @FunctionalInterface
    private interface Offer {
        OfferResult of(Publication publication, DirectBuffer header, SealedBuffer message) throws Exception;
    }

    private static Operation offer(@Nullable Media media, int bytes, int regions, Offer offer) {
        return scene -> {
            SealedBuffer part = scene.buffer(bytes);
            SealedBuffer[] parts = new SealedBuffer[regions];
            Arrays.fill(parts, part);
            SealedBuffer message = regions == 1 ? part : scene.own(SealedBuffer.concat(parts));
            byte[] content = bytesOf(message);
            DirectBuffer header = header(scene.points());
            return () -> {
                Arrivals arrivals = media.arrivals();
                Runnable poll = media.poll();
                arrivals.got.clear();
                try {
                    while (!offer.of(media.publication(), header, message).isAccepted()) {
                        poll.run();
                    }
                } finally {
                    // what failed is not in the stream, and the stream goes on behind it
                    try (ArenaSource memory = ArenaSource.create();
                            SealedBuffer mark = Messages.sealed(memory, new byte[] {1, 2, 3})) {
                        Embedded.offer(media.publication(), mark, poll);
                    }
                    Embedded.await(() -> {
                        poll.run();
                        return arrivals.isMarked();
                    });
                }
                expect(arrivals.got.size() == 2, "messages that arrived: " + arrivals.got.size());
                byte[] got = arrivals.got.getFirst();
                expect(
                        Arrays.equals(content, Arrays.copyOfRange(got, got.length - content.length, got.length)),
                        "other bytes arrived: bytes=" + got.length);
                return got.length;
            };
        };
    }

    static final class Arrivals implements SealedMessageHandler {

        private final List<byte[]> got = new ArrayList<>();

        @Override
        public void onMessageMoved(SealedBuffer message, Header header) {
            try (message) {
                got.add(bytesOf(message));
            }
        }

        boolean isMarked() {
            return !got.isEmpty() && Arrays.equals(got.getLast(), new byte[] {1, 2, 3});
        }
    }

    // doubles

    /// Eight bytes, each of whose calls may fail.
    private static DirectBuffer header(FaultPoints points) {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[8]);
        return (DirectBuffer) Proxy.newProxyInstance(
                AeronCalls.class.getClassLoader(), new Class<?>[] {DirectBuffer.class}, (self, method, given) -> {
                    points.reach("DirectBuffer." + method.getName());
                    try {
                        return method.invoke(bytes, given);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }

    /// A source that says that it has no memory, where another fails.
    private record Limited(MemorySource source) implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
            try {
                return source.allocate(byteSize);
            } catch (RuntimeException failure) {
                throw FaultPoints.isInjected(failure) ? limit(failure) : failure;
            }
        }

        @Override
        public Region grow(Region region, long byteSize) {
            try {
                return source.grow(region, byteSize);
            } catch (RuntimeException failure) {
                throw FaultPoints.isInjected(failure) ? limit(failure) : failure;
            }
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            try {
                return source.seal(region, used);
            } catch (RuntimeException failure) {
                throw FaultPoints.isInjected(failure) ? limit(failure) : failure;
            }
        }

        @Override
        public LeaseTrace trace() {
            return source.trace();
        }

        private static MemoryLimitException limit(RuntimeException failure) {
            MemoryLimitException limit = new MemoryLimitException("no memory");
            limit.initCause(failure);
            return limit;
        }
    }

    // bytes

    private static byte[] content(int message) {
        return FaultScene.bytes(BYTES[message], message);
    }

    private static List<Fragment> log() {
        List<Fragment> log = new ArrayList<>();
        int termOffset = 0;
        for (int i = 0; i < BYTES.length; i++) {
            List<Fragment> message = fragments(1, termOffset, i);
            log.addAll(message);
            Fragment last = message.getLast();
            termOffset += message.stream()
                    .mapToInt(one -> BitUtil.align(
                            one.length + DataHeaderFlyweight.HEADER_LENGTH, FrameDescriptor.FRAME_ALIGNMENT))
                    .sum();
            expect(last.length >= 0, "length");
        }
        return log;
    }

    private static List<Fragment> fragments(int session, int termOffset, int message) {
        return fragments(session, termOffset, content(message), FRAGMENTS[message]);
    }

    private static List<Fragment> fragments(int session, int termOffset, int bytes, int count) {
        return fragments(session, termOffset, FaultScene.bytes(bytes, 1), count);
    }

    private static List<Fragment> fragments(int session, int termOffset, byte[] content, int count) {
        List<Fragment> fragments = new ArrayList<>();
        DataHeaderFlyweight frame = new DataHeaderFlyweight();
        int offset = termOffset;
        for (int i = 0; i < count; i++) {
            int from = content.length * i / count;
            int length = content.length * (i + 1) / count - from;
            UnsafeBuffer log = new UnsafeBuffer(new byte[DataHeaderFlyweight.HEADER_LENGTH + length]);
            frame.wrap(log, 0, log.capacity());
            frame.sessionId(session).streamId(STREAM).termId(0).termOffset(offset);
            frame.flags((short) ((i == 0 ? FrameDescriptor.BEGIN_FRAG_FLAG & 0xff : 0)
                    | (i == count - 1 ? FrameDescriptor.END_FRAG_FLAG & 0xff : 0)));
            frame.frameLength(log.capacity());
            log.putBytes(DataHeaderFlyweight.HEADER_LENGTH, content, from, length);
            fragments.add(new Fragment(log, 0, length));
            offset += BitUtil.align(log.capacity(), FrameDescriptor.FRAME_ALIGNMENT);
        }
        return fragments;
    }

    private static byte[] bytesOf(SealedBuffer buffer) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < buffer.iovec().regionCount(); i++) {
            all.writeBytes(buffer.iovec().region(i).toArray(ValueLayout.JAVA_BYTE));
        }
        return all.toByteArray();
    }

    private static Exception thrown(Throwable why) {
        if (why instanceof Error error) {
            throw error;
        }
        return (Exception) why;
    }

    private static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
