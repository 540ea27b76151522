// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.job;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.internal.core.Settings;
import io.bulla.runtime.pmix.internal.core.Waits;
import io.bulla.runtime.pmix.internal.message.Answer;
import io.bulla.runtime.pmix.internal.message.Outgoing;
import io.bulla.runtime.pmix.internal.message.Reading;
import io.bulla.runtime.pmix.internal.session.Call;
import io.bulla.runtime.pmix.internal.session.Session;
import io.bulla.runtime.pmix.internal.wire.Command;
import io.bulla.runtime.pmix.internal.wire.UserIds;
import java.time.Duration;
import java.util.function.Supplier;

/// The server, as one asks it: a request, and its answer or its "no" in time.
///
/// @param settings of the client that asks
/// @param session the connection
/// @param outgoing how requests are packed
/// @param ids who asks
public record Server(Settings settings, Session session, Outgoing outgoing, UserIds ids) {

    /// Asks, and waits no longer than usual.
    ///
    /// @param request packs it
    /// @return to be closed
    Answer ask(Command command, Supplier<SealedBuffer> request) throws PmixException, InterruptedException {
        return ask(command, request, settings.options().deadline());
    }

    public Answer ask(Command command, Supplier<SealedBuffer> request, Duration deadline)
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
        return new Answer(call.command(), session.await(call, deadline), reading(), settings.failures());
    }

    /// Asks for something that is done or not.
    public void order(Command command, Supplier<SealedBuffer> request) throws PmixException, InterruptedException {
        awaitDone(begin(command, request));
    }

    /// Waits no longer than usual for a call that is done or not.
    void awaitDone(Call call) throws PmixException, InterruptedException {
        try (Answer answer = answer(call, settings.options().deadline())) {
            check(answer, answer.status());
        }
    }

    /// @throws PmixException if the status is not success
    void check(Answer answer, PmixStatus status) throws PmixException {
        if (!status.isSuccess()) {
            throw settings.failures()
                    .of(
                            status,
                            "the PMIx server says no: call=" + answer.command().text() + " status=" + status
                                    + " process=" + settings.self());
        }
    }

    /// How its messages are read.
    Reading reading() {
        return new Reading(settings.environment().format(), settings.options().limits());
    }

    /// How long to wait for a server that may wait itself.
    Duration plus(Duration wait) {
        return Waits.sum(wait, settings.options().deadline());
    }
}
