// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.buffer.SealedBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// The server, as one asks it: a request, and its answer or its "no" in time.
///
/// @param session the connection
/// @param outgoing how requests are packed
/// @param ids who asks
record Server(PmixEnvironment environment, PmixOptions options, Session session, Outgoing outgoing, UserIds ids) {

    /// Asks, and waits no longer than usual.
    ///
    /// @param request packs it
    /// @return to be closed
    Answer ask(Command command, Supplier<SealedBuffer> request) throws PmixException, InterruptedException {
        return ask(command, request, options.deadline());
    }

    Answer ask(Command command, Supplier<SealedBuffer> request, Duration deadline)
            throws PmixException, InterruptedException {
        return answer(begin(command, request), deadline);
    }

    /// Asks, and goes on.
    Call begin(Command command, Supplier<SealedBuffer> request) throws PmixException {
        Call call = new Call(command, null);
        begin(call, request);
        return call;
    }

    /// Asks, unless this client has left, whose memory is gone.
    void begin(Call call, Supplier<SealedBuffer> request) throws PmixException {
        session.checkMayCall(call.command());
        SealedBuffer packed;
        try {
            packed = request.get();
        } catch (IllegalStateException memoryIsClosed) {
            session.checkMayCall(call.command());
            throw memoryIsClosed;
        }
        session.begin(call, packed);
    }

    /// Waits for an answer.
    ///
    /// @return to be closed
    Answer answer(Call call, Duration deadline) throws PmixException, InterruptedException {
        return new Answer(call.command(), session.await(call, deadline), environment.format(), options.limits());
    }

    /// Asks for something that is done or not.
    void order(Command command, Supplier<SealedBuffer> request) throws PmixException, InterruptedException {
        try (Answer answer = ask(command, request)) {
            check(answer, answer.status());
        }
    }

    /// @throws PmixException if the status is not success
    void check(Answer answer, PmixStatus status) throws PmixException {
        if (!status.isSuccess()) {
            throw new PmixException(
                    status,
                    "the PMIx server says no: call=" + answer.command().text() + " status=" + status + " process="
                            + environment.proc());
        }
    }

    /// A wait as the server takes it: whole seconds, rounded up.
    static int seconds(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("wait is negative: given=" + wait);
        }
        long nanos = Session.nanos(wait);
        long seconds = TimeUnit.NANOSECONDS.toSeconds(nanos) + (nanos % 1_000_000_000 == 0 ? 0 : 1);
        return (int) Math.min(seconds, Integer.MAX_VALUE);
    }

    /// How long to wait for a server that may wait itself.
    Duration plus(Duration wait) {
        long sum = Session.nanos(wait) + Session.nanos(options.deadline());
        return Duration.ofNanos(sum < 0 ? Long.MAX_VALUE : sum);
    }
}
