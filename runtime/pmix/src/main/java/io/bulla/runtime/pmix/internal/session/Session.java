// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.PmixTimeoutException;
import io.bulla.runtime.pmix.internal.core.Settings;
import io.bulla.runtime.pmix.internal.core.Waits;
import io.bulla.runtime.pmix.internal.wire.Command;
import io.bulla.runtime.pmix.internal.wire.UserIds;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The life of the connection to the server, and of the calls on it.
///
/// ```
/// GREETING --hello taken--> JOINED --finish()--> FINALIZING --end()--> LEFT
///     any --end of the connection, a protocol error--> LOST
/// ```
///
/// One virtual thread reads as long as the session lives ([FrameReader]); another one writes while there is something
/// to write ([FrameWriter]). Callers never touch the channel, so an interrupt ends their wait and not the connection.
/// All fields are under one lock, which no thread holds while it reads, writes or runs code of others.
public final class Session {

    private enum State {
        GREETING,
        JOINED,
        FINALIZING,
        LEFT,
        LOST
    }

    private final Settings settings;
    private final ServerChannel channel;
    private final FrameReader reader;
    private final FrameWriter writer;
    private final Answers answers = new Answers();
    private final Frames frames = new Frames();
    private final CompletableFuture<Void> greeted = new CompletableFuture<>();
    private final CompletableFuture<PmixException> lost = new CompletableFuture<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final CallTable table = new CallTable();
    private State state = State.GREETING;
    private @Nullable PmixException ending;
    private int index;
    private boolean writing;
    private boolean closing;
    private long lateAnswers;

    /// @param memory where answers and events lie
    public Session(Settings settings, MemorySource memory, EventSink events) throws PmixException {
        this.settings = settings;
        try {
            this.channel = new ServerChannel();
        } catch (IOException failure) {
            throw settings.failures().of(PmixStatus.UNREACHABLE, "no socket: " + failure.getMessage(), failure);
        }
        this.reader = new FrameReader(settings, memory, events, channel);
        this.writer = new FrameWriter(channel);
    }

    /// Connects and says hello.
    ///
    /// @throws PmixException if the server cannot be reached, refuses, or is silent; the session is over then
    public void open(UserIds ids) throws PmixException, InterruptedException {
        Thread.ofVirtual().name("bulla-pmix-reader").start(() -> read(ids));
        boolean open = false;
        try {
            greeted.get(Waits.nanos(settings.options().deadline()), TimeUnit.NANOSECONDS);
            open = true;
        } catch (TimeoutException silence) {
            throw settings.failures()
                    .late("the PMIx server does not take the hello: server="
                            + settings.environment().server() + " waited="
                            + settings.options().deadline());
        } catch (ExecutionException failure) {
            throw rethrown(failure);
        } finally {
            if (!open) {
                end(State.LOST, settings.failures().of(PmixStatus.NOT_JOINED, "never joined"));
            }
        }
    }

    /// Completes with the reason when the connection is lost; never, if the session is left in order.
    public CompletableFuture<PmixException> lost() {
        return lost;
    }

    /// Answers that came when their call had been given up.
    public long lateAnswers() {
        lock.lock();
        try {
            return lateAnswers;
        } finally {
            lock.unlock();
        }
    }

    /// @throws PmixException if the session takes no such call now
    public void checkMayCall(Command command) throws PmixException {
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
    public void begin(Call call, SealedBuffer body) throws PmixException {
        boolean taken = false;
        boolean idle;
        lock.lock();
        try {
            check(call.command());
            table.add(call, body);
            taken = true;
            idle = !writing;
            writing = true;
        } finally {
            if (!taken) {
                table.remove(call);
                body.close();
            }
            lock.unlock();
        }
        if (idle) {
            writer.start(frames);
        }
    }

    /// Says something that servers do not answer, if the session is joined still.
    ///
    /// @param body taken over
    public void tell(SealedBuffer body) {
        boolean idle = false;
        boolean taken = false;
        lock.lock();
        try {
            if (state == State.JOINED && table.unsent() < settings.options().pending()) {
                table.add(body);
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
            writer.start(frames);
        }
    }

    /// Waits for the answer to a call that was begun.
    ///
    /// @return a handle to close
    /// @throws PmixTimeoutException if there is none in time; the call is given up then, and when the wait is
    ///     interrupted
    public SealedBuffer await(Call call, Duration deadline) throws PmixException, InterruptedException {
        boolean answered = false;
        try {
            SealedBuffer body = answerInTime(call, deadline);
            answered = true;
            return body;
        } catch (ExecutionException failure) {
            throw rethrown(failure);
        } finally {
            if (!answered) {
                giveUp(call);
            }
        }
    }

    private SealedBuffer answerInTime(Call call, Duration deadline)
            throws PmixException, ExecutionException, InterruptedException {
        try {
            return call.get(Waits.nanos(deadline), TimeUnit.NANOSECONDS);
        } catch (TimeoutException silence) {
            PmixTimeoutException late = settings.failures()
                    .late("no answer in time: call=" + call.command().text() + " waited=" + deadline + " server="
                            + settings.environment().server().name());
            if (call.completeExceptionally(late)) {
                throw late;
            }
            // completed meanwhile, by an answer or by the end of the session: no wait
            return call.get();
        }
    }

    /// Who closes.
    ///
    /// @return true for the first caller
    public boolean beginClose() {
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
    public boolean finish() {
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

    /// Ends the connection, and all that waits on it, unless it was lost before.
    ///
    /// @param why what calls say from now on
    public void leave(PmixException why) {
        end(State.LEFT, why);
    }

    /// Ends the connection, and all that waits on it. The first end counts.
    private void end(State to, PmixException why) {
        CallTable.Waiting waiting;
        lock.lock();
        try {
            if (state == State.LEFT || state == State.LOST) {
                return;
            }
            waiting = table.waiting();
            table.clear();
            ending = why;
            state = to;
        } finally {
            lock.unlock();
        }
        channel.close();
        waiting.frames().forEach(frame -> frame.body().close());
        greeted.completeExceptionally(why);
        waiting.calls().forEach(call -> call.completeExceptionally(why));
        if (to == State.LOST) {
            lost.complete(why);
        }
    }

    private void check(Command command) throws PmixException {
        boolean may = state == State.JOINED || state == State.FINALIZING && command == Command.FINALIZE;
        if (!may) {
            throw ending != null
                    ? settings.failures().again(ending)
                    : settings.failures()
                            .of(
                                    PmixStatus.NOT_JOINED,
                                    "the client takes no calls: call=" + command.text() + " state=" + state);
        }
        int most = settings.options().pending();
        if (table.calls() >= most && command != Command.FINALIZE) {
            throw settings.failures()
                    .of(
                            PmixStatus.OUT_OF_RESOURCE,
                            "too many calls wait for an answer: call=" + command.text() + " most=" + most);
        }
    }

    /// Ends the wait for an answer.
    public void giveUp(Call call) {
        call.cancel(false);
        SealedBuffer unused;
        lock.lock();
        try {
            unused = table.withdraw(call);
            if (unused != null || !call.outlivesItsCaller()) {
                table.remove(call);
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

    private void read(UserIds ids) {
        try {
            reader.run(ids, answers);
        } catch (Throwable failure) {
            end(State.LOST, broken(failure));
        }
    }

    /// The thread that reads.
    private final class Answers implements FrameReader.Owner {

        @Override
        public void onJoined(int given) {
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

        @Override
        public @Nullable Call onAnswer(int tag) {
            lock.lock();
            try {
                Call call = table.answered(tag);
                if (call == null) {
                    lateAnswers++;
                }
                return call;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public PmixException broken(Throwable failure) {
            return Session.this.broken(failure);
        }
    }

    /// The thread that writes.
    private final class Frames implements FrameWriter.Owner {

        @Override
        public @Nullable Frame nextUnsent() {
            lock.lock();
            try {
                Frame next = table.nextUnsent();
                writing = next != null;
                return next;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public int index() {
            lock.lock();
            try {
                return index;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void onFailure(Throwable failure) {
            end(State.LOST, broken(failure));
        }
    }

    private PmixException broken(Throwable failure) {
        if (failure instanceof PmixException known) {
            return known;
        }
        String why = failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        return settings.failures()
                .of(
                        channel.isConnected() || failure instanceof EOFException
                                ? PmixStatus.LOST_CONNECTION
                                : PmixStatus.UNREACHABLE,
                        "no connection to the PMIx server: " + why + ": server="
                                + settings.environment().server(),
                        failure);
    }

    private PmixException rethrown(ExecutionException failure) {
        return failure.getCause() instanceof PmixException known
                ? settings.failures().again(known)
                : settings.failures()
                        .of(PmixStatus.LOST_CONNECTION, String.valueOf(failure.getCause()), failure.getCause());
    }
}
