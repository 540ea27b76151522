// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

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
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
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
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Offers and assembled messages while what they call fails: handlers, headers, memory.
@Tag("faults")
class AeronFaultTest {

    private static final int STREAM = 10;
    private static final int LIMIT = 100_000;
    /// Of the messages that arrive, and how many fragments each has.
    private static final int[] BYTES = {3000, 20, 9000, 0, 40};

    private static final int[] FRAGMENTS = {3, 1, 9, 1, 1};

    /// How Aeron calls the assembler.
    @FunctionalInterface
    private interface Poll {
        /// @return whether the fragment comes again
        boolean fragment(SealedAssembler assembler, Fragment fragment);
    }

    /// One of a log.
    private record Fragment(UnsafeBuffer log, int at, int length) {

        int offset() {
            return at + DataHeaderFlyweight.HEADER_LENGTH;
        }

        Header header() {
            Header header = new Header(0, 16);
            header.buffer(log);
            header.offset(at);
            return header;
        }
    }

    @TempDir
    private Path folder;

    @Test
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        FaultRun run = new FaultRun("aeron");
        run.operation(
                "SealedAssembler.onFragment(DirectBuffer, int, int, Header)",
                List.of(assemble(AeronFaultTest::polled, false), assemble(AeronFaultTest::polled, true)));
        run.operation(
                "SealedAssembler.onControlledFragment(DirectBuffer, int, int, Header)",
                List.of(assemble(AeronFaultTest::controlled, false), assemble(AeronFaultTest::controlled, true)));
        run.operation("SealedAssembler.close()", AeronFaultTest::close);
        run.operation("SealedOffer.vectors(DirectBuffer, IoVec)", AeronFaultTest::vectors);
        try (Embedded media = new Embedded(folder);
                ArenaSource memory = ArenaSource.create()) {
            Arrivals arrivals = new Arrivals();
            SealedAssembler assembler = new SealedAssembler(memory, LIMIT, arrivals);
            Subscription subscription = media.subscribe(Embedded.IPC, assembler);
            Publication publication = media.publish(subscription);
            Runnable poll = () -> subscription.poll(assembler, 10);
            run.operation(
                    "SealedOffer.offer(Publication, DirectBuffer, SealedBuffer)",
                    List.of(
                            offer(publication, poll, arrivals, 300, 1),
                            offer(publication, poll, arrivals, 300, 3),
                            offer(publication, poll, arrivals, 20_000, 1)));
            assembler.close();
        }
        FaultReport report = run.report().print();
        report.check();
    }

    // messages that arrive

    private static boolean polled(SealedAssembler assembler, Fragment fragment) {
        assembler.onFragment(fragment.log, fragment.offset(), fragment.length, fragment.header());
        return false;
    }

    private static boolean controlled(SealedAssembler assembler, Fragment fragment) {
        return assembler.onControlledFragment(fragment.log, fragment.offset(), fragment.length, fragment.header())
                == Action.ABORT;
    }

    /// @param limited whether what fails in the source is a lack of memory
    private static Operation assemble(Poll poll, boolean limited) {
        return scene -> () -> {
            FaultPoints points = scene.points();
            List<byte[]> got = new ArrayList<>();
            List<Throwable> errors = new ArrayList<>();
            MemorySource source = limited ? new Limited(scene.source()) : scene.source();
            SealedAssembler assembler = new SealedAssembler(source, LIMIT, (message, header) -> {
                try (message) {
                    points.reach("SealedMessageHandler.onMessage");
                    got.add(bytesOf(message));
                }
            });
            try {
                for (Fragment fragment : log()) {
                    poll(poll, assembler, fragment, errors);
                }
                expect(assembler.halves() == 0, "half messages stay: " + assembler.halves());
                return outcome(got, errors);
            } finally {
                assembler.close();
            }
        };
    }

    /// As Aeron: what is thrown goes to the error handler, and the fragment does not come again.
    private static void poll(Poll poll, SealedAssembler assembler, Fragment fragment, List<Throwable> errors) {
        try {
            int again = 0;
            while (poll.fragment(assembler, fragment)) {
                expect(++again < 10, "the fragment comes again for ever");
            }
        } catch (AssertionError wrong) {
            throw wrong;
        } catch (Throwable failure) {
            errors.add(failure);
        }
    }

    /// One message may be missing, for the exception that says so.
    private static Object outcome(List<byte[]> got, List<Throwable> errors) throws Exception {
        int next = 0;
        for (byte[] message : got) {
            while (next < BYTES.length && !Arrays.equals(message, content(next))) {
                next++;
            }
            expect(next++ < BYTES.length, "a message that was not sent, or again: bytes=" + message.length);
        }
        expect(errors.size() <= 1, "more than one failure: " + errors);
        if (errors.isEmpty()) {
            expect(got.size() == BYTES.length, "messages are missing: " + got.size());
            return "all";
        }
        expect(got.size() >= BYTES.length - 1, "other messages are missing: " + got.size());
        throw thrown(errors.getFirst());
    }

    private static FaultRun.Action close(FaultScene scene) {
        SealedAssembler assembler = new SealedAssembler(scene.source(), LIMIT, (message, header) -> message.close());
        scene.own((AutoCloseable) assembler::close);
        for (int session = 1; session <= 3; session++) {
            Fragment first = fragments(session, 0, 3000, 3).getFirst();
            assembler.onFragment(first.log, first.offset(), first.length, first.header());
        }
        return () -> {
            assembler.close();
            return assembler.halves();
        };
    }

    // offers

    private static FaultRun.Action vectors(FaultScene scene) {
        SealedBuffer message = scene.lastHandle();
        return () -> SealedOffer.vectors(new UnsafeBuffer(new byte[8]), message.iovec()).length;
    }

    private static Operation offer(Publication publication, Runnable poll, Arrivals arrivals, int bytes, int regions) {
        return scene -> {
            SealedBuffer part = scene.buffer(bytes);
            SealedBuffer[] parts = new SealedBuffer[regions];
            Arrays.fill(parts, part);
            SealedBuffer message = regions == 1 ? part : scene.own(SealedBuffer.concat(parts));
            byte[] content = bytesOf(message);
            DirectBuffer header = header(scene.points());
            return () -> {
                arrivals.got.clear();
                try {
                    while (!SealedOffer.offer(publication, header, message).isAccepted()) {
                        poll.run();
                    }
                } finally {
                    // what failed is not in the stream, and the stream goes on behind it
                    try (ArenaSource memory = ArenaSource.create();
                            SealedBuffer mark = Messages.sealed(memory, new byte[] {1, 2, 3})) {
                        Embedded.offer(publication, mark, poll);
                    }
                    Embedded.await(() -> {
                        poll.run();
                        return arrivals.isMarked();
                    });
                }
                expect(arrivals.got.size() == 2, "messages that arrived: " + arrivals.got.size());
                byte[] got = arrivals.got.getFirst();
                expect(
                        Arrays.equals(content, Arrays.copyOfRange(got, 8, got.length)),
                        "other bytes arrived: bytes=" + got.length);
                return got.length;
            };
        };
    }

    private static final class Arrivals implements SealedMessageHandler {

        private final List<byte[]> got = new ArrayList<>();

        @Override
        public void onMessage(SealedBuffer message, Header header) {
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
                AeronFaultTest.class.getClassLoader(), new Class<?>[] {DirectBuffer.class}, (self, method, given) -> {
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
                throw limit(failure);
            }
        }

        @Override
        public Region grow(Region region, long byteSize) {
            try {
                return source.grow(region, byteSize);
            } catch (RuntimeException failure) {
                throw limit(failure);
            }
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            try {
                return source.seal(region, used);
            } catch (RuntimeException failure) {
                throw limit(failure);
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
