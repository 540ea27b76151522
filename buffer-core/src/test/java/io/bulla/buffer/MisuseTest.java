// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.SendTicket;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.function.Executable;

/// The table in `docs/misuse.md`, row by row. The expected exceptions and messages stand there, and only there.
class MisuseTest {

    private static final Map<String, Row> TABLE = new TreeMap<>();

    private final MemoryBudget budget = new MemoryBudget(1 << 20);
    private final BlockingQueue<LeaseLedger.Holder> leaks = new LinkedBlockingQueue<>();
    private final LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
    private final ArenaSource source = ArenaSource.create(budget, ledger);
    private final AtomicInteger released = new AtomicInteger();
    private Row row;
    private int asserted;

    private record Row(String exception, String message) {

        boolean isException() {
            return !exception.equals("none");
        }

        boolean fits(String said) {
            if (said == null) {
                return message.equals("none");
            }
            String pattern =
                    Stream.of(message.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
            return said.matches(pattern);
        }
    }

    @BeforeAll
    static void readTheTable() throws IOException {
        // a process may run this class more than once, as PIT does
        TABLE.clear();
        for (String line : Files.readAllLines(Path.of("..", "docs", "misuse.md"))) {
            String[] cells = line.split("\\|");
            if (cells.length == 5 && cells[4].strip().matches("`\\w+`")) {
                Row before = TABLE.put(bare(cells[4]), new Row(bare(cells[2]), bare(cells[3])));
                assertNull(before, () -> "two rows of one test: " + line);
            }
        }
    }

    private static String bare(String cell) {
        return cell.strip().replaceAll("^`|`$", "");
    }

    @BeforeEach
    void findRow(TestInfo test) {
        row = TABLE.get(test.getTestMethod().orElseThrow().getName());
    }

    @AfterEach
    void rowWasAssertedAndEverythingIsGivenBack() throws InterruptedException {
        assertTrue(row == null || asserted > 0, () -> "the test asserts nothing of its row: " + row);
        assertEquals(List.of(), ledger.open());
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    @Test
    void tableAndTestsAreInStep() {
        TreeSet<String> tests = Arrays.stream(MisuseTest.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Test.class))
                .map(method -> method.getName())
                .collect(Collectors.toCollection(TreeSet::new));
        tests.remove("tableAndTestsAreInStep");
        assertEquals(tests, TABLE.keySet());
        assertTrue(TABLE.size() > 40, "rows=" + TABLE.size());
    }

    @Test
    void readAfterClose() {
        SealedBuffer buffer = sealed();
        buffer.close();
        refused(buffer::iovec);
        refused(buffer::byteSize);
        refused(buffer::pinnedBytes);
    }

    @Test
    void shareAfterClose() {
        SealedBuffer buffer = sealed();
        SealedBuffer other = buffer.share();
        buffer.close();
        refused(buffer::share);
        refused(() -> buffer.share("tag"));
        refused(() -> buffer.shares(2));
        refused(() -> buffer.shares(0));
        refused(() -> buffer.slice(0, 1));
        refused(buffer::move);
        refused(() -> buffer.copy(source));
        refused(() -> buffer.compact(source, 1));
        refused(() -> SealedBuffer.concat(other, buffer));
        assertEquals(1, other.holders());
        other.close();
    }

    @Test
    void closerIsTheCauseOnACheckedSource() throws InterruptedException {
        try (ArenaSource checked = ArenaSource.builder().safety(Safety.CHECKED).build()) {
            SealedBuffer buffer = Bytes.sealed(checked, 128);
            Thread.ofPlatform().name("culprit").start(buffer::close).join();
            Throwable cause =
                    assertThrows(ReleasedBufferException.class, buffer::iovec).getCause();
            refused(() -> {
                throw cause;
            });
        }
    }

    @Test
    void closeTwice() throws InterruptedException {
        SealedBuffer buffer = sealed();
        SealedBuffer other = buffer.share();
        buffer.close();
        buffer.close();
        Thread.ofPlatform().start(buffer::close).join();
        assertEquals(1, other.holders());
        other.close();
        harmless();
    }

    @Test
    void closeBesideOtherHolders() {
        SealedBuffer buffer = sealed();
        SealedBuffer[] others = buffer.shares(2);
        others[0].close();
        others[0].close();
        assertBytes(buffer.iovec());
        buffer.close();
        assertBytes(others[1].iovec());
        others[1].close();
        harmless();
    }

    @Test
    void closeOfTheParentBeforeTheSlice() {
        SealedBuffer buffer = sealed();
        SealedBuffer slice = buffer.slice(0, 128);
        buffer.close();
        assertBytes(slice.iovec());
        slice.close();
        harmless();
    }

    @Test
    void closeWhileAnotherThreadReads() throws InterruptedException {
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        for (int run = 0; run < 300; run++) {
            SealedBuffer buffer = sealed();
            AtomicInteger reads = new AtomicInteger();
            Thread reader = Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < 1_000_000; i++) {
                        int at = i % 128;
                        byte seen = buffer.iovec().get(ValueLayout.JAVA_BYTE, at);
                        reads.incrementAndGet();
                        if (seen != at) {
                            wrong.set(new AssertionError("at=" + at + " seen=" + seen));
                        }
                    }
                } catch (ReleasedBufferException told) {
                    // what most see
                } catch (IllegalStateException closed) {
                    if (!closed.getMessage().equals("Already closed")) {
                        wrong.set(closed);
                    }
                } catch (Throwable other) {
                    wrong.set(other);
                }
            });
            while (reads.get() < 10 && reader.isAlive()) {
                Thread.onSpinWait();
            }
            buffer.close();
            reader.join();
        }
        assertNull(wrong.get());
        harmless();
    }

    @Test
    void staleViewOfAClosedChunk() {
        SealedBuffer buffer = sealed();
        IoVec view = buffer.iovec();
        buffer.close();
        source.close();
        Await.until(() -> source.openChunks() == 0);
        refused(() -> view.get(ValueLayout.JAVA_BYTE, 0));
        refused(() -> view.copyTo(0, MemorySegment.ofArray(new byte[128]), 128));
        refused(() -> view.mismatch(view));
    }

    @Test
    void staleViewOfALivingChunk() {
        SealedBuffer keepsTheChunk = sealed();
        SealedBuffer buffer = sealed();
        IoVec view = buffer.iovec();
        buffer.close();
        SealedBuffer next = BufferBuilder.create(source).put(new byte[128]).seal();
        assertBytes(view);
        next.close();
        keepsTheChunk.close();
        harmless();
    }

    @Test
    void staleViewOnACheckedSource() {
        try (ArenaSource checked = ArenaSource.builder().safety(Safety.CHECKED).build()) {
            SealedBuffer buffer = Bytes.sealed(checked, 128);
            IoVec view = buffer.iovec();
            buffer.close();
            refused(() -> view.get(ValueLayout.JAVA_BYTE, 0));
            refused(() -> view.region(0));
            refused(() -> view.slice(0, 1));
            refused(view::asByteBuffers);
        }
    }

    @Test
    void forgottenHandle() throws InterruptedException {
        SealedBuffer buffer = sealed();
        forget(buffer);
        Await.collected(() -> ledger.healed() == 1);
        String told = leaks.poll(60, TimeUnit.SECONDS).toString();
        assertTrue(row.fits(told), told);
        assertEquals(1, buffer.holders());
        buffer.close();
        harmless();
    }

    @Test
    void sourceClosedEarly() {
        SealedBuffer buffer = sealed().move("peer-17");
        refused(() -> source.close(Duration.ofMillis(10)));
        assertBytes(buffer.iovec());
        buffer.close();
    }

    @Test
    void sourceClosedEarlyWithoutAListener() {
        ArenaSource deaf = ArenaSource.create(budget, null);
        SealedBuffer buffer = Bytes.sealed(deaf, 128);
        refused(() -> deaf.close(Duration.ofMillis(10)));
        assertBytes(buffer.iovec());
        buffer.close();
        Await.until(() -> deaf.openChunks() == 0);
    }

    @Test
    void memoryOfAClosedSource() {
        source.close();
        refused(this::sealed);
    }

    @Test
    void memoryOfAClosedSourceWithAFullBudget() throws InterruptedException {
        SealedBuffer held = sealed();
        source.close();
        budget.take(budget.limit() - budget.used());
        refused(() -> source.allocate(8 << 20));
        budget.give(budget.used() - (256 << 10));
        held.close();
    }

    @Test
    void regionGivenBackTwice() {
        MemorySource.Region region = source.allocate(128);
        SealedBuffer other = sealed();
        region.release();
        refused(region::release);
        assertBytes(other.iovec());
        other.close();
    }

    @Test
    void regionUsedAfterItWasGivenBack() {
        MemorySource.Region region = source.allocate(128);
        region.release();
        refused(region::segment);
        refused(() -> source.grow(region, 256));
        refused(() -> source.seal(region, 1));
    }

    @Test
    void budgetGivenMoreThanWasTaken() {
        MemoryBudget other = new MemoryBudget(100);
        refused(() -> other.give(40));
        assertEquals(0, other.used());
        other.take(100);
        assertEquals(false, other.tryTake(40));
    }

    @Test
    void builderUsedAfterAFailedSeal() {
        MemorySource failing = new MemorySource() {
            @Override
            public Region allocate(long byteSize) {
                return source.allocate(byteSize);
            }

            @Override
            public MemorySegment seal(Region region, long used) {
                throw new IllegalArgumentException("of a test");
            }
        };
        BufferBuilder builder = BufferBuilder.create(failing).putInt(1);
        assertThrows(IllegalArgumentException.class, builder::seal);
        refused(() -> builder.putInt(1));
        refused(builder::seal);
        builder.close();
    }

    @Test
    void sourceThatGivesNothing() {
        refused(() -> BufferBuilder.create(size -> null).putInt(1));
    }

    @Test
    void sourceThatGivesARegionTwice() {
        MemorySource.Region one = source.allocate(4);
        try (BufferBuilder builder = BufferBuilder.create(size -> one)) {
            builder.putLong(1);
            refused(() -> builder.putInt(2));
        }
    }

    @Test
    void taggedHandleAfterClose() {
        SealedBuffer buffer = sealed();
        SealedBuffer tagged = buffer.share("peer-17");
        tagged.close();
        refused(tagged::share);
        refused(() -> tagged.slice(0, 1));
        refused(tagged::move);
        buffer.close();
    }

    @Test
    void loopThatWaitsForTheClose() throws InterruptedException {
        SealedBuffer buffer = sealed();
        Thread waits = Thread.ofPlatform().daemon().start(() -> {
            while (buffer.isOpen()) {}
        });
        waits.join(500);
        buffer.close();
        waits.join(60_000);
        assertEquals(false, waits.isAlive());
        harmless();
    }

    @Test
    void budgetExceeded() {
        try (SealedBuffer held = sealed().move("peer-17")) {
            assertNotNull(held);
            refused(() -> Bytes.sealed(source, 8 << 20));
            assertEquals(256 << 10, budget.used());
        }
    }

    @Test
    void budgetExceededWithoutAListener() {
        try (ArenaSource deaf = ArenaSource.create(budget, null)) {
            refused(() -> Bytes.sealed(deaf, 8 << 20));
        }
    }

    @Test
    void emptyBudget() {
        refused(() -> new MemoryBudget(0));
    }

    @Test
    void negativeBooking() {
        refused(() -> budget.take(-1));
        refused(() -> budget.give(-1));
    }

    @Test
    void adoptOfNothing() {
        refused(() -> SealedBuffer.adopt(null, released::incrementAndGet));
        assertEquals(1, released.get());
    }

    @Test
    void adoptWithoutRelease() {
        refused(() -> SealedBuffer.adopt(MemorySegment.ofArray(new byte[16]), null));
    }

    @Test
    void adoptOfConfinedMemory() {
        try (Arena confined = Arena.ofConfined()) {
            refused(() -> SealedBuffer.adopt(confined.allocate(16), released::incrementAndGet));
        }
        assertEquals(1, released.get());
    }

    @Test
    void adoptOfFreedMemory() {
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(16);
        arena.close();
        refused(() -> SealedBuffer.adopt(freed, released::incrementAndGet));
        assertEquals(1, released.get());
    }

    @Test
    void writeToASealedBufferDoesNotCompile() throws IOException {
        assertEquals(List.of(), Snippet.errors("buffer.byteSize();"), "so the others fail for what they do");
        for (String write : List.of(
                "buffer.putInt(1);",
                "buffer.put(new byte[1]);",
                "buffer.readFrom(null, 1);",
                "buffer.memory();",
                "buffer.iovec().put(0, (byte) 1);",
                "buffer.iovec().set(null, 0, 1);",
                "buffer.release();")) {
            doesNotCompile(write);
        }
    }

    @Test
    void madeUpBufferDoesNotCompile() throws IOException {
        doesNotCompile("new io.bulla.buffer.SealedBuffer(null, null);");
    }

    @Test
    void writeThroughASegment() {
        try (SealedBuffer buffer = sealed()) {
            MemorySegment view = buffer.iovec().region(0);
            refused(() -> view.set(ValueLayout.JAVA_BYTE, 0, (byte) 1));
            refused(() -> view.fill((byte) 1));
            refused(() -> view.asSlice(1, 1).set(ValueLayout.JAVA_BYTE, 0, (byte) 1));
            refused(() -> buffer.iovec().copyTo(0, view, 128));
            assertBytes(buffer.iovec());
        }
    }

    @Test
    void writeThroughAByteBuffer() {
        try (SealedBuffer buffer = sealed()) {
            refused(() -> buffer.iovec().asByteBuffers()[0].put(0, (byte) 1));
            refused(() -> buffer.iovec().asByteBuffers()[0].duplicate().putLong(1));
            assertBytes(buffer.iovec());
        }
    }

    @Test
    void builderUsedAfterSeal() {
        BufferBuilder builder = BufferBuilder.create(source).putInt(1);
        SealedBuffer buffer = builder.seal();
        refusedByBuilder(builder);
        assertEquals(4, buffer.byteSize());
        builder.close();
        assertTrue(buffer.isOpen());
        buffer.close();
    }

    @Test
    void builderUsedAfterClose() {
        BufferBuilder builder = BufferBuilder.create(source).putInt(1);
        builder.close();
        refusedByBuilder(builder);
        refused(builder::seal);
    }

    private void refusedByBuilder(BufferBuilder builder) {
        refused(() -> builder.putByte((byte) 1));
        refused(() -> builder.putShort((short) 1));
        refused(() -> builder.putInt(1));
        refused(() -> builder.putLong(1));
        refused(() -> builder.put((byte) 1));
        refused(() -> builder.put(MemorySegment.ofArray(new byte[1])));
        refused(() -> builder.put(Bytes.vector((byte) 1)));
        refused(() -> builder.readFrom(Channels.newChannel(new ByteArrayInputStream(new byte[1])), 1));
        refused(() -> builder.readFully(Channels.newChannel(new ByteArrayInputStream(new byte[1])), 1));
        refused(() -> builder.truncate(0));
    }

    @Test
    void sealTwice() {
        BufferBuilder builder = BufferBuilder.create(source).putInt(1);
        SealedBuffer buffer = builder.seal();
        refused(builder::seal);
        refused(() -> builder.seal("tag"));
        assertEquals(1, buffer.holders());
        buffer.close();
    }

    @Test
    void builderWithoutASource() {
        refused(() -> BufferBuilder.create(null));
        refused(() -> BufferBuilder.ofCapacity(null, 1));
        refused(() -> BufferBuilder.tryBuild(null, 1));
    }

    @Test
    void builderOfNoCapacity() {
        refused(() -> BufferBuilder.ofCapacity(source, 0));
        refused(() -> BufferBuilder.tryBuild(source, 0));
    }

    @Test
    void truncatePastTheEnd() {
        try (BufferBuilder builder = BufferBuilder.create(source).putInt(1)) {
            refused(() -> builder.truncate(8));
            assertEquals(4, builder.byteSize());
        }
    }

    @Test
    void readOfNothing() {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            refused(() -> builder.readFrom(Channels.newChannel(new ByteArrayInputStream(new byte[1])), 0));
        }
    }

    @Test
    void readOfANegativeLength() {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            refused(() -> builder.readFully(Channels.newChannel(new ByteArrayInputStream(new byte[1])), -1));
        }
    }

    @Test
    void channelEndedEarly() {
        try (BufferBuilder builder = BufferBuilder.create(source).putInt(1)) {
            refused(() -> builder.readFully(Channels.newChannel(new ByteArrayInputStream(new byte[70])), 100));
            assertEquals(4, builder.byteSize());
        }
    }

    @Test
    void sliceOutOfBounds() {
        cut(96, 64);
    }

    @Test
    void sliceAtANegativeOffset() {
        cut(-1, 1);
    }

    @Test
    void sliceOfANegativeLength() {
        cut(0, -1);
    }

    private void cut(long offset, long length) {
        try (SealedBuffer buffer = sealed();
                SealedBuffer half = buffer.slice(0, 64);
                SealedBuffer both = SealedBuffer.concat(half, half)) {
            refused(() -> buffer.slice(offset, length));
            refused(() -> buffer.iovec().slice(offset, length));
            refused(() -> both.slice(offset, length));
        }
    }

    @Test
    void readOutOfBounds() {
        try (SealedBuffer buffer = sealed()) {
            refused(() -> buffer.iovec().get(ValueLayout.JAVA_INT_UNALIGNED, 126));
        }
    }

    @Test
    void readPastAReadersLimit() {
        try (SealedBuffer buffer = sealed()) {
            BufferReader reader = BufferReader.of(buffer).skip(124);
            refused(reader::getLong);
        }
    }

    @Test
    void readerAfterClose() {
        SealedBuffer buffer = sealed();
        BufferReader reader = BufferReader.of(buffer);
        buffer.close();
        refused(reader::getInt);
    }

    @Test
    void readOutOfBoundsOfManyRegions() {
        try (SealedBuffer buffer = sealed();
                SealedBuffer both = SealedBuffer.concat(buffer, buffer)) {
            refused(() -> both.iovec().get(ValueLayout.JAVA_INT_UNALIGNED, 254));
        }
    }

    @Test
    void copyIntoTooSmallATarget() {
        try (SealedBuffer buffer = sealed()) {
            refused(() -> buffer.iovec().copyTo(0, MemorySegment.ofArray(new byte[16]), 128));
        }
    }

    @Test
    void negativeNumberOfShares() {
        try (SealedBuffer buffer = sealed()) {
            refused(() -> buffer.shares(-1));
            assertEquals(1, buffer.holders());
        }
    }

    @Test
    void compactToMoreThanAll() {
        try (SealedBuffer buffer = sealed()) {
            refused(() -> buffer.compact(source, 1.5));
        }
    }

    @Test
    void nullTag() {
        try (SealedBuffer buffer = sealed();
                SealedBuffer share = buffer.share(null);
                SealedBuffer moved = buffer.share().move(null)) {
            assertNull(share.tag());
            assertNull(moved.tag());
        }
        harmless();
    }

    @Test
    void eventTooMany() {
        SendTicket ticket = new SendTicket(sealed(), 1);
        ticket.happened();
        refused(ticket::happened);
    }

    private void refused(Executable misuse) {
        Throwable thrown = assertThrows(Throwable.class, misuse);
        assertEquals(row.exception(), thrown.getClass().getSimpleName());
        assertTrue(
                row.fits(thrown.getMessage()), () -> "expected: " + row.message() + " but was: " + thrown.getMessage());
        asserted++;
    }

    private void doesNotCompile(String statement) throws IOException {
        List<String> errors = Snippet.errors(statement);
        assertEquals("does not compile", row.exception());
        assertTrue(!errors.isEmpty() && row.fits(errors.getFirst()), () -> statement + " " + errors);
        asserted++;
    }

    private void harmless() {
        assertTrue(!row.isException());
        asserted++;
    }

    private SealedBuffer sealed() {
        return Bytes.sealed(source, 128);
    }

    private static void forget(SealedBuffer buffer) {
        buffer.share("peer-17");
    }

    private static void assertBytes(IoVec bytes) {
        assertEquals(-1, bytes.mismatch(Bytes.vector(Bytes.numbered(128))));
    }
}
