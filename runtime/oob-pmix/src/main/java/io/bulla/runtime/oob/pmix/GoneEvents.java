// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.PmixClient;
import io.bulla.runtime.pmix.PmixEvent;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixPendingRegistration;
import io.bulla.runtime.pmix.PmixStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The launcher's events about processes that are gone. The node asks for them before the nodes meet, so that no
/// death is missed between the meeting and its start.
final class GoneEvents {

    /// All are hints: whether a peer has failed is the node's to judge.
    private static final Set<PmixStatus> CODES =
            Set.of(PmixStatus.ABORTED_BY_SIGNAL, PmixStatus.TERMINATED_WITHOUT_SYNC, PmixStatus.LOST_CONNECTION);

    private record Gone(Proc proc, PmixEvent event) {}

    private final PmixClient client;
    private final PmixPendingRegistration registration;
    // the thread's that meets
    private boolean answered;
    // both under this object's lock; null once there is a listener
    private List<Gone> early = new ArrayList<>();
    private @Nullable BiConsumer<Proc, PmixEvent> listener;

    private GoneEvents(PmixClient client) throws PmixException, InterruptedException {
        this.client = client;
        this.registration = client.requestEvents(CODES, gone(this::heard));
        // else it would keep the next call from being made
        if (client.options().pending() == 1) {
            await();
        }
    }

    /// Asks for events, and does not wait for the answer.
    static GoneEvents of(PmixClient client) throws PmixException, InterruptedException {
        return new GoneEvents(client);
    }

    /// Waits until the server has answered. Again is harmless.
    void await() throws InterruptedException {
        if (answered) {
            return;
        }
        answered = true;
        try {
            registration.await();
        } catch (PmixException noEvents) {
            // a server that hands out none; whatever else is wrong with it, the next call says
        }
    }

    /// Asks for events on its own, for a program.
    static PmixClient.Registration listen(PmixClient client, BiConsumer<Proc, PmixEvent> told)
            throws PmixException, InterruptedException {
        return client.onEvent(CODES, gone(told));
    }

    private static Consumer<PmixEvent> gone(BiConsumer<Proc, PmixEvent> told) {
        return event -> {
            // a lost connection is the source's own, other events name whom they are about
            List<Proc> about = event.affected().isEmpty() ? List.of(event.source()) : event.affected();
            about.forEach(proc -> told.accept(proc, event));
        };
    }

    private void heard(Proc proc, PmixEvent event) {
        @Nullable BiConsumer<Proc, PmixEvent> now;
        synchronized (this) {
            now = listener;
            // a process dies once: more events than processes say nothing new
            if (now == null && early.size() < client.size()) {
                early.add(new Gone(proc, event));
            }
        }
        if (now != null) {
            now.accept(proc, event);
        }
    }

    /// From now on events are told at once; those that came before are told here.
    void tell(BiConsumer<Proc, PmixEvent> told) {
        List<Gone> before;
        synchronized (this) {
            before = early;
            early = List.of();
            listener = told;
        }
        before.forEach(gone -> told.accept(gone.proc(), gone.event()));
    }

    void close() {
        registration.close();
    }
}
