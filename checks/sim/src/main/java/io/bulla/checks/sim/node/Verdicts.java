// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.schedule.Schedule;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Whether a verdict on a peer is just, looked at in the moment in which it falls.
final class Verdicts {

    private static final Pattern SAID = Pattern.compile("peer (\\d+) failed: (.*)");

    /// What hints say.
    static final String HINT = "hinted";

    private Verdicts() {}

    static void check(Simulation simulation, SimNode judge, String said) {
        Matcher parts = SAID.matcher(said);
        if (!parts.matches()) {
            return;
        }
        int peer = Integer.parseInt(parts.group(1));
        String why = parts.group(2);
        simulation.sights.see("verdict: " + why.replaceFirst("[:=].*", ""));
        Schedule schedule = simulation.schedule;
        if (schedule.isGentle()) {
            simulation.ledger.violation("verdict although all went well", "judge=" + judge + " " + said);
        }
        if (why.startsWith(HINT) && !judge.wasHinted(peer)) {
            simulation.ledger.violation("verdict by a hint from before a hello", "judge=" + judge + " " + said);
        }
        checkWords(simulation, judge, peer, why, said);
        // what a member that is refused says is not heard
        if (why.startsWith("no connection")
                && (!simulation.intruders.hasMember() || peer != simulation.intruderRank())) {
            if (judge.suspension.isSuspended()) {
                simulation.ledger.violation("verdict of a node that is suspended", "judge=" + judge + " " + said);
            }
            long silence = judge.silence(peer);
            if (silence < schedule.nanos("peerTimeout")) {
                simulation.ledger.violation(
                        "verdict on a peer that was heard",
                        "judge=" + judge + " silence=" + silence / 1e9 + " " + said);
            }
            checkAttempts(simulation, judge, peer, said);
        }
    }

    /// What the words say has happened.
    private static void checkWords(Simulation simulation, SimNode judge, int peer, String why, String said) {
        simulation.ledger.judged(judge.rank(), peer);
        if (peer == simulation.intruderRank()) {
            return;
        }
        boolean isTrue = switch (why) {
            case "it was restarted" -> simulation.lives(peer).size() > 1;
            case "it had given this node up" -> simulation.ledger.hasJudged(peer, judge.rank());
            default -> true;
        };
        if (!isTrue) {
            simulation.ledger.violation("verdict with words that are not true", "judge=" + judge + " " + said);
        }
    }

    /// An attempt has failed, and if the directory is to blame, it still is.
    private static void checkAttempts(Simulation simulation, SimNode judge, int peer, String said) {
        if (said.endsWith("last=none tried")) {
            simulation.ledger.violation("verdict without an attempt", "judge=" + judge + " " + said);
        }
        if (said.endsWith("last=directory did not answer")) {
            simulation.sights.see("verdict: directory did not answer");
            if (!judge.directory().isAsked(peer)) {
                simulation.ledger.violation("directory is blamed, but did answer", "judge=" + judge + " " + said);
            }
        }
    }
}
