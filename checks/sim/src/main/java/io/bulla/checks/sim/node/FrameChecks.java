// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.nio.ByteBuffer;

/// What a run looks at in the frames from one rank to another: whether the sender may say so now.
final class FrameChecks implements Net.FrameListener {

    private static final int RESUMES = 64;
    private static final long RESUMES_NANOS = 300 * World.MILLI;

    private final Simulation simulation;
    private final int from;
    private final int to;
    private final long[] resumed = new long[RESUMES];
    private int resumes;

    FrameChecks(Simulation simulation, int from, int to) {
        this.simulation = simulation;
        this.from = from;
        this.to = to;
    }

    @Override
    public boolean frame(Frame.Kind kind, ByteBuffer header) {
        boolean byHostile = isHostile(from);
        simulation.chatter.frame(kind, byHostile || isHostile(to), byHostile);
        if (byHostile) {
            return false;
        }
        switch (kind) {
            case ACK -> {
                if (sender() != null) {
                    sender().cuts.checkHeld(to, true, header.getLong(16), header.getLong(24), header.getLong(48));
                }
            }
            case HELLO -> {
                if (sender() != null && sender().suspension.isSilent()) {
                    simulation.ledger.violation("answers while it is suspended", "node=" + sender());
                }
            }
            case DIRECT -> {
                if (sender() != null) {
                    long next = header.getLong(16) + 1;
                    sender().cuts
                            .checkHeld(to, false, header.get(60) == 0 ? next : 0, header.get(60) == 1 ? next : 0, 0);
                }
            }
            case RESUME -> resumed();
            case BROADCAST -> {
                if (header.getLong(24) == 0) {
                    simulation.overheard(new Intruders.Overheard(
                            header.getInt(12), header.getLong(40), header.getLong(48), header.getLong(32)));
                }
            }
            default -> {
                // at any time
            }
        }
        return true;
    }

    private boolean isHostile(int rank) {
        return simulation.intruders.hasMember() && rank == simulation.intruderRank();
    }

    /// The node that writes, or `null` if it is none of the run's.
    private SimNode sender() {
        return from == simulation.intruderRank() || from >= simulation.size ? null : simulation.running(from);
    }

    /// There is a pause before each, of 10 ms at least.
    private void resumed() {
        long now = simulation.world.now();
        long before = resumed[resumes % RESUMES];
        resumed[resumes++ % RESUMES] = now;
        if (resumes > RESUMES && now - before < RESUMES_NANOS) {
            simulation.ledger.violation("begins again too often", "times=" + RESUMES + " nanos=" + (now - before));
        }
    }
}
