// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.job;

import io.bulla.runtime.pmix.PmixEvent;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.internal.events.EventQueue;
import io.bulla.runtime.pmix.internal.message.Answer;
import io.bulla.runtime.pmix.internal.session.Call;
import io.bulla.runtime.pmix.internal.wire.Command;
import java.util.Set;
import java.util.function.Consumer;

/// A wish for events: its listener is there before the server is asked, and stays until the server refuses or the
/// wish is closed. One thread may wait for the answer, any may close.
public final class EventRequest {

    private final Server server;
    private final EventQueue events;
    private final EventQueue.Listener entry;
    private final Call call = new Call(Command.REGISTER_EVENTS, null);
    // under this object's lock; who set it waits for the answer, or has given it up
    private boolean taken;

    private EventRequest(Server server, EventQueue events, EventQueue.Listener entry) {
        this.server = server;
        this.events = events;
        this.entry = entry;
    }

    /// Asks, and goes on.
    ///
    /// @throws IllegalArgumentException if there are no codes
    public static EventRequest begin(
            Server server, EventQueue events, Set<PmixStatus> codes, Consumer<PmixEvent> listener)
            throws PmixException {
        if (codes.isEmpty()) {
            throw new IllegalArgumentException("no codes: servers hand out events to those who name them");
        }
        EventQueue.Listener entry = new EventQueue.Listener(Set.copyOf(codes), listener);
        EventRequest request = new EventRequest(server, events, entry);
        // first, for an event may overtake the answer
        events.add(entry);
        boolean begun = false;
        try {
            server.begin(request.call, () -> server.outgoing().register(entry.codes()));
            begun = true;
            return request;
        } finally {
            if (!begun) {
                events.remove(entry);
            }
        }
    }

    /// @throws PmixException if the server does not take it, or does not answer in time; its listener is gone then
    /// @throws IllegalStateException if it was waited for or closed before
    public void await() throws PmixException, InterruptedException {
        if (!take()) {
            throw new IllegalStateException(
                    "the wish for events was waited for or closed before: codes=" + entry.codes());
        }
        boolean granted = false;
        try (Answer answer = server.answer(call, server.settings().options().deadline())) {
            server.check(answer, answer.status());
            granted = true;
        } finally {
            if (!granted) {
                events.remove(entry);
            }
        }
    }

    /// Takes the listener out, and tells the server, if no other listener is for its codes. Again is harmless.
    public void close() {
        if (take()) {
            server.session().giveUp(call);
        }
        Set<PmixStatus> codes = events.remove(entry);
        if (!codes.isEmpty()) {
            // servers do not answer this one
            try {
                server.session().checkMayCall(Command.DEREGISTER_EVENTS);
                server.session().tell(server.outgoing().deregister(codes));
            } catch (PmixException | IllegalStateException left) {
                // so no events come any more
            }
        }
    }

    private synchronized boolean take() {
        boolean first = !taken;
        taken = true;
        return first;
    }
}
