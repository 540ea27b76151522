// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.sim.schedule.Program;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.SendOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

/// What programs of nodes send, each with its entry in the ledger.
final class Sends {

    private final Simulation simulation;
    private final Schedule schedule;
    private final Ledger ledger;

    Sends(Simulation simulation) {
        this.simulation = simulation;
        this.schedule = simulation.schedule;
        this.ledger = simulation.ledger;
    }

    Send send(SimNode from, int id, int to, int tag, int bytes, SendOptions options) {
        boolean mayFail =
                options.deadline().isPresent() && options.deadline().get().compareTo(Duration.ofDays(1)) < 0;
        return send(from, id, to, tag, bytes, options, mayFail);
    }

    Send send(SimNode from, int id, int to, int tag, int bytes, SendOptions options, boolean mayFail) {
        Ledger.Sent sent = ledger.sent(id, from, to, tag, Math.max(bytes, 0), mayFail, List.of());
        sent.deadline = options.deadline()
                .filter(within -> within.compareTo(Duration.ofDays(1)) < 0)
                .map(within -> from.awake() + within.toNanos())
                .orElse(Long.MAX_VALUE);
        try (SealedBuffer message = from.program.message(id, bytes)) {
            Send send = from.node().send(to, tag, message, options);
            send.whenComplete((delivery, failure) -> ledger.completed(sent, delivery, failure));
            return send;
        }
    }

    void sendBlocking(SimNode from, Ledger.Sent sent, SendOptions options) {
        try (SealedBuffer message = from.program.message(sent.id, (int) sent.bytes)) {
            from.node()
                    .sendBlocking(sent.to, sent.tag, message, options)
                    .whenComplete((delivery, failure) -> ledger.completed(sent, delivery, failure));
        } catch (InterruptedException | TimeoutException notQueued) {
            ledger.gaveUp(sent, notQueued);
        }
    }

    void cast(SimNode from, int id, int tag, int bytes) {
        Ledger.Sent sent = ledger.sent(id, from, -1, tag, bytes, false, simulation.nodes());
        // of the node's memory, and on its way with the program's bytes: the queues bound both, and not what peers send
        long signature = SimSecurity.overhead(schedule, from.rank());
        from.later(0, () -> {
            from.memory.keep(signature);
            try (SealedBuffer message = from.program.message(id, bytes)) {
                from.node().broadcast(tag, message).whenComplete((result, failure) -> {
                    from.memory.keep(-signature);
                    ledger.completed(sent, result, failure);
                });
            } catch (IllegalStateException noMemory) {
                from.memory.keep(-signature);
                // for the signature
                if (!from.memory.isRefusing() || !SimSecurity.isOn(schedule)) {
                    throw noMemory;
                }
                ledger.gaveUp(sent, noMemory);
            }
        });
    }

    /// Each node sends to each other one, and broadcasts.
    void probe() {
        int id = 1 << 19;
        for (SimNode from : simulation.nodes()) {
            for (SimNode to : simulation.nodes()) {
                if (from != to) {
                    probe(from, to, id++);
                }
            }
            int bytes = Program.LEAST + 100;
            if (simulation.intruderRank() < 0
                    && bytes + SimSecurity.overhead(schedule, from.rank()) <= simulation.limit(from.rank())) {
                cast(from, id++, 0, bytes);
            }
        }
    }

    private void probe(SimNode from, SimNode to, int id) {
        int bytes =
                id % 2 == 0 ? 64 : (int) Math.min(simulation.limit(0), 2 * schedule.config("fragment") + Program.LEAST);
        from.later(
                0,
                () -> send(from, id, to.rank(), 0, bytes, SendOptions.DEFAULT).whenComplete((delivery, failure) -> {
                    if (failure != null) {
                        ledger.violation("a node cannot talk to another", ledger.of(id) + " failure=" + failure);
                    }
                }));
    }
}
