// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/// The connection to the server, and the calls on it.
///
/// ```
/// GREETING --hello taken--> JOINED --finish()--> FINALIZING --end()--> LEFT
///     any --end of the connection, a protocol error--> LOST
/// ```
///
/// One virtual thread reads as long as the session lives; another one writes while there is something to write.
/// Callers never touch the channel, so an interrupt ends their wait and not the connection. All fields are under
/// one lock, which no thread holds while it reads, writes or runs code of others.
final class Session {

    enum State {
        GREETING,
        JOINED,
        FINALIZING,
        LEFT,
        LOST
    }

    /// @param call `null` if no answer is expected
    private record Frame(@Nullable Call call, int tag, SealedBuffer body) {}

    private static final int SKIP_BYTES = 8192;
    private static final int STEP_BYTES = 1 << 20;
    // so that a queue of them is bounded in bytes too; a death takes some hundreds
    private static final int MOST_EVENT_BYTES = 64 << 10;

    private final PmixEnvironment environment;
    private final PmixOptions options;
    private final MemorySource memory;
    private final Consumer<SealedBuffer> events;
    private final Runnable eventDropped;
    private final SocketChannel channel;
    private final boolean hasQuickAck;
    private final ByteBuffer header = ByteBuffer.allocate(Header.BYTES);
    private final CompletableFuture<Void> greeted = new CompletableFuture<>();
    private final CompletableFuture<PmixException> lost = new CompletableFuture<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Integer, Call> calls = new HashMap<>();
    private final ArrayDeque<Frame> unsent = new ArrayDeque<>();
    private State state = State.GREETING;
    private @Nullable PmixException ending;
    private int index;
    private int nextTag = Header.FIRST_TAG;
    private boolean writing;
    private boolean closing;
    private long lateAnswers;

    /// @param events takes the body of each event, on the thread that reads
    /// @param eventDropped told of each event that was too long, or for which there was no memory
    Session(
            PmixEnvironment environment,
            PmixOptions options,
            MemorySource memory,
            Consumer<SealedBuffer> events,
            Runnable eventDropped)
            throws PmixException {
        this.environment = environment;
        this.options = options;
        this.memory = memory;
        this.events = events;
        this.eventDropped = eventDropped;
        try {
            this.channel = SocketChannel.open();
            this.hasQuickAck = channel.supportedOptions().contains(ExtendedSocketOptions.TCP_QUICKACK);
        } catch (IOException failure) {
            throw new PmixException(PmixStatus.UNREACHABLE, "no socket: " + failure.getMessage(), failure);
        }
    }

    /// Connects and says hello.
    ///
    /// @throws PmixException if the server cannot be reached, refuses, or is silent; the session is over then
    void open(UserIds ids) throws PmixException, InterruptedException {
        Thread.ofVirtual().name("bulla-pmix-reader").start(() -> read(ids));
        boolean open = false;
        try {
            greeted.get(nanos(options.deadline()), TimeUnit.NANOSECONDS);
            open = true;
        } catch (TimeoutException silence) {
            throw new PmixTimeoutException("the PMIx server does not take the hello: server=" + environment.server()
                    + " waited=" + options.deadline());
        } catch (ExecutionException failure) {
            throw rethrown(failure);
        } finally {
            if (!open) {
                end(State.LOST, new PmixException(PmixStatus.NOT_JOINED, "never joined"));
            }
        }
    }

    /// Completes with the reason when the connection is lost; never, if the session is left in order.
    CompletableFuture<PmixException> lost() {
        return lost;
    }

    /// Answers that came when their call had been given up.
    long lateAnswers() {
        lock.lock();
        try {
            return lateAnswers;
        } finally {
            lock.unlock();
        }
    }

    /// @throws PmixException if the session takes no such call now
    void checkMayCall(Command command) throws PmixException {
        lock.lock();
        try {
            check(command);
        } finally {
            lock.unlock();
        }
    }

    /// Sends a question.
    ///
    /// @param body taken over, whatever happens
    /// @throws PmixException if the session is not joined, or too many calls wait; nothing is sent then
    void begin(Call call, SealedBuffer body) throws PmixException {
        boolean taken = false;
        boolean idle;
        lock.lock();
        try {
            check(call.command());
            call.tag = freeTag();
            calls.put(call.tag, call);
            unsent.add(new Frame(call, call.tag, body));
            taken = true;
            idle = !writing;
            writing = true;
        } finally {
            if (!taken) {
                calls.remove(call.tag, call);
                body.close();
            }
            lock.unlock();
        }
        if (idle) {
            startWriter();
        }
    }

    /// Says something that servers do not answer, if the session is joined still.
    ///
    /// @param body taken over
    void tell(SealedBuffer body) {
        boolean idle = false;
        boolean taken = false;
        lock.lock();
        try {
            if (state == State.JOINED && unsent.size() < options.pending()) {
                unsent.add(new Frame(null, freeTag(), body));
                taken = true;
                idle = !writing;
                writing = true;
            }
        } finally {
            lock.unlock();
            if (!taken) {
                body.close();
            }
        }
        if (idle) {
            startWriter();
        }
    }

    /// Waits for the answer to a call that was begun.
    ///
    /// @return a handle to close
    /// @throws PmixTimeoutException if there is none in time; the call is given up then, and when the wait is
    ///     interrupted
    SealedBuffer await(Call call, Duration deadline) throws PmixException, InterruptedException {
        boolean answered = false;
        try {
            SealedBuffer body = call.get(nanos(deadline), TimeUnit.NANOSECONDS);
            answered = true;
            return body;
        } catch (TimeoutException silence) {
            PmixTimeoutException late = new PmixTimeoutException(
                    "no answer in time: call=" + call.command().text() + " waited=" + deadline + " server="
                            + environment.server().name());
            if (!call.completeExceptionally(late)) {
                answered = true;
                return call.resultNow();
            }
            throw late;
        } catch (ExecutionException failure) {
            throw rethrown(failure);
        } finally {
            if (!answered) {
                giveUp(call);
            }
        }
    }

    /// Who closes.
    ///
    /// @return true for the first caller
    boolean beginClose() {
        lock.lock();
        try {
            boolean first = !closing;
            closing = true;
            return first;
        } finally {
            lock.unlock();
        }
    }

    /// No call but the last one is taken from now on.
    ///
    /// @return false if there is no server to be told
    boolean finish() {
        lock.lock();
        try {
            if (state != State.JOINED) {
                return false;
            }
            state = State.FINALIZING;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// Ends the connection, and all that waits on it. The first end counts.
    void end(State to, PmixException why) {
        List<Call> waiting;
        List<Frame> frames;
        lock.lock();
        try {
            if (state == State.LEFT || state == State.LOST) {
                return;
            }
            waiting = new ArrayList<>(calls.values());
            frames = new ArrayList<>(unsent);
            calls.clear();
            unsent.clear();
            ending = why;
            state = to;
        } finally {
            lock.unlock();
        }
        try {
            channel.close();
        } catch (IOException closedAllTheSame) {
            // there is nothing left to do with it
        }
        frames.forEach(frame -> frame.body().close());
        greeted.completeExceptionally(why);
        waiting.forEach(call -> call.completeExceptionally(why));
        if (to == State.LOST) {
            lost.complete(why);
        }
    }

    private void check(Command command) throws PmixException {
        boolean may = state == State.JOINED || state == State.FINALIZING && command == Command.FINALIZE;
        if (!may) {
            throw ending != null
                    ? ending.again()
                    : new PmixException(
                            PmixStatus.NOT_JOINED,
                            "the client takes no calls: call=" + command.text() + " state=" + state);
        }
        if (calls.size() >= options.pending() && command != Command.FINALIZE) {
            throw new PmixException(
                    PmixStatus.OUT_OF_RESOURCE,
                    "too many calls wait for an answer: call=" + command.text() + " most=" + options.pending());
        }
    }

    private int freeTag() {
        do {
            // without a sign; past the last one the server's own come again
            nextTag = nextTag == -1 ? Header.FIRST_TAG : nextTag + 1;
        } while (calls.containsKey(nextTag));
        return nextTag;
    }

    /// Ends the wait for an answer.
    void giveUp(Call call) {
        call.cancel(false);
        SealedBuffer unused = null;
        lock.lock();
        try {
            for (Iterator<Frame> frames = unsent.iterator(); frames.hasNext(); ) {
                Frame frame = frames.next();
                if (frame.call() == call) {
                    frames.remove();
                    unused = frame.body();
                }
            }
            if (unused != null || !call.outlivesItsCaller()) {
                calls.remove(call.tag, call);
            }
        } finally {
            lock.unlock();
        }
        if (unused != null) {
            unused.close();
            call.settle();
        }
        SealedBuffer late = call.isCompletedExceptionally() ? null : call.resultNow();
        if (late != null) {
            late.close();
        }
    }

    private void startWriter() {
        try {
            Thread.ofVirtual().name("bulla-pmix-writer").start(this::write);
        } catch (Throwable noThread) {
            end(State.LOST, broken(noThread));
        }
    }

    private void write() {
        try {
            for (Frame next = nextUnsent(); next != null; next = nextUnsent()) {
                try (SealedBuffer body = next.body()) {
                    writeFully(new Header(index(), next.tag(), body.byteSize()), body);
                }
            }
        } catch (Throwable failure) {
            end(State.LOST, broken(failure));
        }
    }

    private int index() {
        lock.lock();
        try {
            return index;
        } finally {
            lock.unlock();
        }
    }

    private Frame nextUnsent() {
        lock.lock();
        try {
            Frame next = unsent.poll();
            writing = next != null;
            return next;
        } finally {
            lock.unlock();
        }
    }

    private void writeFully(Header head, SealedBuffer body) throws IOException {
        ByteBuffer[] views = body.iovec().lent().asByteBuffers();
        ByteBuffer[] all = new ByteBuffer[views.length + 1];
        all[0] = head.bytes();
        System.arraycopy(views, 0, all, 1, views.length);
        for (int first = 0; first < all.length; ) {
            channel.write(all, first, all.length - first);
            while (first < all.length && !all[first].hasRemaining()) {
                first++;
            }
        }
    }

    private void read(UserIds ids) {
        try {
            greet(ids);
            while (true) {
                receive();
            }
        } catch (Throwable failure) {
            end(State.LOST, broken(failure));
        }
    }

    private void greet(UserIds ids) throws IOException {
        channel.connect(environment.server().address());
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        ByteBuffer hello = Hello.of(environment, ids);
        while (hello.hasRemaining()) {
            channel.write(hello);
        }
        PmixStatus status = new PmixStatus(readInt());
        if (!status.isSuccess()) {
            throw new PmixException(
                    status,
                    "the PMIx server refuses the hello: status=" + status + " process=" + environment.proc()
                            + " server=" + environment.server() + " version=" + environment.version());
        }
        int given = readInt();
        lock.lock();
        try {
            if (state != State.GREETING) {
                return;
            }
            index = given;
            state = State.JOINED;
        } finally {
            lock.unlock();
        }
        greeted.complete(null);
    }

    private int readInt() throws IOException {
        readFully(header.clear().limit(Integer.BYTES));
        return header.getInt(0);
    }

    private void readFully(ByteBuffer target) throws IOException {
        while (target.hasRemaining()) {
            if (channel.read(target) < 0) {
                throw new EOFException("the PMIx server has closed the connection");
            }
        }
    }

    private void receive() throws IOException {
        acknowledge();
        readFully(header.clear());
        Header head = Header.read(header);
        if (head.tag() == Header.EVENT) {
            event(head);
            return;
        }
        Call call = answered(head.tag());
        if (call == null) {
            checkLength(head);
            skip(head.length());
            return;
        }
        if (head.length() > options.answerBytes()) {
            call.completeExceptionally(new PmixException(PmixStatus.OUT_OF_RESOURCE, overLimit(head)));
            skip(head.length());
            return;
        }
        answer(call, head.length());
    }

    /// Acknowledges what was read at once. A server writes each answer for itself, and waits for that with the next
    /// one; TCP puts it off for 40 ms where there is nothing to send. It forgets the option: set it each time.
    private void acknowledge() throws IOException {
        if (hasQuickAck) {
            channel.setOption(ExtendedSocketOptions.TCP_QUICKACK, true);
        }
    }

    private @Nullable Call answered(int tag) {
        lock.lock();
        try {
            Call call = calls.remove(tag);
            if (call == null) {
                lateAnswers++;
            }
            return call;
        } finally {
            lock.unlock();
        }
    }

    /// An answer to a call that waits, or waited: it is out of the table, so it is completed here in any case.
    private void answer(Call call, long length) throws IOException {
        Body body = new Body(length);
        try (body) {
            call.answered(body.read());
        } catch (MemoryLimitException full) {
            call.completeExceptionally(
                    new PmixException(PmixStatus.OUT_OF_RESOURCE, "no memory for an answer: bytes=" + length, full));
            skip(length - body.arrived);
        } catch (Throwable failure) {
            call.completeExceptionally(broken(failure));
            throw failure;
        }
    }

    private void event(Header head) throws IOException {
        checkLength(head);
        if (head.length() == 0) {
            throw new EOFException("the PMIx server has given this process up");
        }
        if (head.length() > MOST_EVENT_BYTES) {
            skip(head.length());
            eventDropped.run();
            return;
        }
        Body body = new Body(head.length());
        try (body) {
            events.accept(body.read());
        } catch (MemoryLimitException full) {
            skip(head.length() - body.arrived);
            eventDropped.run();
        }
    }

    private void checkLength(Header head) throws PmixException {
        if (head.length() > options.answerBytes()) {
            throw new PmixException(PmixStatus.OUT_OF_RESOURCE, overLimit(head));
        }
    }

    private String overLimit(Header head) {
        return "message of the PMIx server is over the limit: tag=" + Integer.toUnsignedString(head.tag()) + " bytes="
                + head.length() + " limit=" + options.answerBytes();
    }

    private void skip(long bytes) throws IOException {
        ByteBuffer scratch = ByteBuffer.allocate((int) Math.min(bytes, SKIP_BYTES));
        for (long left = bytes; left > 0; ) {
            scratch.clear().limit((int) Math.min(left, scratch.capacity()));
            left -= scratch.limit();
            readFully(scratch);
        }
    }

    /// Takes memory as the bytes arrive, not as they are announced.
    private final class Body implements AutoCloseable {

        private final long length;
        private final BufferBuilder builder;
        private long arrived;

        Body(long length) {
            this.length = length;
            this.builder = BufferBuilder.create(memory);
        }

        SealedBuffer read() throws IOException {
            while (arrived < length) {
                int count = builder.readFrom(channel, Math.min(STEP_BYTES, length - arrived));
                if (count < 0) {
                    throw new EOFException("the PMIx server has closed the connection inside a message");
                }
                arrived += count;
            }
            return builder.seal();
        }

        @Override
        public void close() {
            builder.close();
        }
    }

    private PmixException broken(Throwable failure) {
        if (failure instanceof PmixException known) {
            return known;
        }
        String why = failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        return new PmixException(
                channel.isConnected() || failure instanceof EOFException
                        ? PmixStatus.LOST_CONNECTION
                        : PmixStatus.UNREACHABLE,
                "no connection to the PMIx server: " + why + ": server=" + environment.server(),
                failure);
    }

    private static PmixException rethrown(ExecutionException failure) {
        return failure.getCause() instanceof PmixException known
                ? known.again()
                : new PmixException(PmixStatus.LOST_CONNECTION, String.valueOf(failure.getCause()), failure.getCause());
    }

    static long nanos(Duration time) {
        try {
            return Math.max(0, TimeUnit.NANOSECONDS.convert(time));
        } catch (ArithmeticException centuries) {
            return Long.MAX_VALUE;
        }
    }
}
