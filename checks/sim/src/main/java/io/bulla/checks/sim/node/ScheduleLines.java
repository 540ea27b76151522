// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.Pipe;
import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Program;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.Sights;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.SendOptions;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;

/// Does what the lines of a schedule say, each at its time.
final class ScheduleLines {

    private final Simulation simulation;
    private final Schedule schedule;
    private final World world;
    private final Net net;
    private final Sights sights;

    ScheduleLines(Simulation simulation) {
        this.simulation = simulation;
        this.schedule = simulation.schedule;
        this.world = simulation.world;
        this.net = simulation.net;
        this.sights = simulation.sights;
    }

    void execute(Line line) {
        simulation.tell(line);
        world.note(line.micros());
        switch (line.what()) {
            case "send" -> sendLine(line);
            case "block" -> blockLine(line);
            case "checkpoint" -> new Checkpoint(simulation, simulation.nodes()).begin();
            case "suspend" ->
                // one or the other: which time counts for a verdict is to be known
                onNode(line, node -> {
                    if (!node.isPaused()) {
                        sights.see("suspend");
                        node.suspension.suspend(line.nanos("for"));
                    }
                });
            case "cast" -> castLine(line);
            case "pause" ->
                onNode(line, node -> {
                    if (!node.suspension.isSuspended()) {
                        sights.see("pause");
                        node.pause(line.nanos("for"));
                    }
                });
            case "jump" ->
                onNode(line, node -> {
                    sights.see("clock step");
                    node.jump(line.nanos("by"));
                });
            case "starve" ->
                onNode(line, node -> {
                    node.memory.refuse(true);
                    world.after(line.nanos("for"), () -> {
                        node.memory.refuse(false);
                        sights.see("memory refused", node.memory.refusals());
                    });
                });
            case "slow" ->
                onNode(line, node -> {
                    node.program.slowDown(line.nanos("by"));
                    world.after(line.nanos("for"), () -> node.program.slowDown(0));
                });
            case "unclaim" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            if (!simulation.isMended()) {
                                node.program.unclaim();
                            }
                        }));
            case "swap" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            if (node.isRunning()) {
                                node.program.swap((int) line.value("tag"), line.value("loop") != 0);
                            }
                        }));
            case "claim" -> onNode(line, node -> node.later(0, node.program::claim));
            case "lost" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            sights.see("lost(rank)");
                            node.node().lost(line.who(1), "told so");
                        }));
            case "notice" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            if (node.isRunning()) {
                                node.notices.send(line.who(1), (int) line.value("topic"));
                            }
                        }));
            case "livecut" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            if (node.isRunning() && !node.suspension.isSuspended()) {
                                node.cuts.liveCut(line.nanos("for"));
                            }
                        }));
            case "hint" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            if (node.isRunning()) {
                                sights.see("hint");
                                node.hinted(line.who(1));
                                node.node().suspect(line.who(1), Verdicts.HINT);
                            }
                        }));
            case "kill" ->
                onNode(line, node -> simulation.kill(node, line.value("machine") != 0, line.nanos("restart")));
            case "close" ->
                onNode(
                        line,
                        node -> simulation.close(node, Duration.ofNanos(line.nanos("drain")), line.nanos("restart")));
            case "cut" -> {
                Pipe pipe = net.pipe(line.who(0), line.who(1));
                if (pipe != null) {
                    pipe.cut(line.value("bytes"), Pipe.Cut.values()[(int) line.value("how")]);
                }
            }
            case "squeeze" -> {
                Pipe pipe = net.pipe(line.who(0), line.who(1));
                if (pipe != null) {
                    pipe.squeeze((int) line.value("to"));
                    world.after(line.nanos("for"), () -> pipe.widen(schedule.number("socket")));
                }
            }
            case "partition" -> {
                long until = world.now() + line.nanos("for");
                net.block(line.who(0), line.who(1), until);
                if (line.value("both") != 0) {
                    net.block(line.who(1), line.who(0), until);
                }
            }
            case "flap" ->
                net.flap(
                        line.who(0),
                        line.who(1),
                        world.now() + line.nanos("for"),
                        line.value("bytes"),
                        line.value("how"));
            case "intrude", "hostile" -> simulation.intruders.begin(line);
            default -> throw new IllegalArgumentException("no such line: " + line);
        }
    }

    private interface ToNode {
        void run(SimNode node);
    }

    private void onNode(Line line, ToNode what) {
        SimNode node = simulation.node(line.who(0));
        if (node != null && node.isRunning()) {
            what.run(node);
        }
    }

    private void sendLine(Line line) {
        onNode(
                line,
                node -> node.later(0, () -> {
                    if (!node.isRunning() || line.value("bytes") > simulation.limit(node.rank())) {
                        return;
                    }
                    SendOptions options = SendOptions.DEFAULT;
                    long within = line.value("within");
                    if (within != 0) {
                        options = options.within(
                                within < 0 ? ChronoUnit.FOREVER.getDuration() : Duration.ofNanos(line.nanos("within")));
                    }
                    if (line.value("written") != 0) {
                        options = options.written();
                    }
                    int tag = (int) line.value("tag");
                    int id = (int) line.value("id");
                    int bytes = (int) line.value("bytes");
                    simulation.allowances.work(tag);
                    Send send = simulation.sends.send(
                            node,
                            id,
                            line.who(1),
                            bytes < Program.LEAST ? Program.EMPTY + id : tag,
                            bytes < Program.LEAST ? 0 : bytes,
                            options,
                            within > 0 || line.has("cancel"));
                    if (line.has("cancel")) {
                        node.later(line.nanos("cancel"), send::cancel);
                    }
                }));
    }

    /// A thread of the program's that waits until there is room, perhaps until it is interrupted.
    private void blockLine(Line line) {
        onNode(line, node -> {
            long within = line.value("within");
            int id = (int) line.value("id");
            int bytes = (int) Math.max(Program.LEAST, line.value("bytes"));
            boolean mayFail = within > 0 || line.has("interrupt");
            if (bytes > simulation.limit(node.rank())) {
                return;
            }
            Ledger.Sent sent =
                    simulation.ledger.sent(id, node, line.who(1), Program.EMPTY + id, bytes, mayFail, List.of());
            sent.waits = true;
            SendOptions options = within > 0
                    ? SendOptions.DEFAULT.within(Duration.ofNanos(line.nanos("within")))
                    : SendOptions.DEFAULT;
            // not while it stands still, when its awake time is ahead
            node.later(0, () -> {
                sent.deadline = within > 0 ? node.awake() + line.nanos("within") : Long.MAX_VALUE;
                Thread waits = node.thread(() -> simulation.sends.sendBlocking(node, sent, options));
                if (line.has("interrupt")) {
                    node.later(line.nanos("interrupt"), waits::interrupt);
                }
            });
        });
    }

    private void castLine(Line line) {
        onNode(line, node -> {
            long onItsWay = line.value("bytes") + SimSecurity.overhead(schedule, node.rank());
            if (node.suspension.isSuspended() && simulation.has("checkpoint")
                    || onItsWay > simulation.limit(node.rank())) {
                return;
            }
            int id = (int) line.value("id");
            int bytes = (int) line.value("bytes");
            int tag = (int) line.value("tag");
            simulation.allowances.relay(tag, bytes);
            simulation.sends.cast(
                    node, id, bytes < Program.LEAST ? Program.EMPTY + id : tag, bytes < Program.LEAST ? 0 : bytes);
        });
    }
}
