// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.world.LogWatch;
import java.util.SplittableRandom;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.regex.Pattern;

/// What the log of a run must not say, and what it tells of the run.
final class LogChecks implements LogWatch.Listener {

    private static final Pattern BREACH =
            Pattern.compile("out of place|hole in the sequence|without credit|not a fragment|was not sent|wrong"
                    + " time|not a frame|skips another|not a list of ranks|nodes that there are not|not above|not a rank"
                    + " below|should have no body|not a message of a batch|inside a header|reserved bytes|no such lease|proof of nothing|invited twice"
                    + "|was not borrowed|memory says");

    private final Simulation simulation;
    private final SplittableRandom random;

    LogChecks(Simulation simulation) {
        this.simulation = simulation;
        this.random = simulation.world.stream('e', 0, 0);
    }

    /// A line of the log, at the time at which it is written.
    @Override
    public void line(LogRecord line) {
        if (line.getLoggerName().startsWith("io.netty")) {
            simulation.ledger.violation("netty complains", line.getMessage() + " " + line.getThrown());
            return;
        }
        boolean severe = line.getLevel().intValue() >= Level.SEVERE.intValue();
        logged(severe, line.getMessage());
        if (severe && isLogFull()) {
            simulation.sights.see("log throws");
            throw new OutOfMemoryError("simulated: no memory for a line of the log");
        }
    }

    private void logged(boolean severe, String line) {
        simulation.tell("log", line);
        if (line.startsWith("broadcast is not its origin's")) {
            simulation.beside("broadcast refused by its signature");
            boolean unsigned =
                    line.endsWith("broadcast is not signed") && !SimSecurity.isAllSigned(simulation.schedule);
            if (simulation.intruderRank() < 0 && !unsigned && !line.endsWith("closed")) {
                simulation.ledger.violation("refuses what its origin has signed", line);
            }
        }
        if (severe && !line.startsWith("handler failed")) {
            simulation.ledger.violation("error in the log", line);
        }
        if (simulation.schedule.isGentle() && !simulation.isMended() && line.startsWith("connection lost")) {
            simulation.ledger.violation("connection lost although all went well", line);
        }
        if (simulation.intruderRank() < 0 && BREACH.matcher(line).find()) {
            simulation.ledger.violation("a node says that another breaks the protocol", line);
        }
        int end = line.indexOf(':');
        String said = (line.startsWith("rank=") ? line.substring(line.indexOf(' ') + 1) : line);
        int to = Math.max(said.indexOf(':'), 0);
        simulation.sights.see("log " + (to == 0 ? said : said.substring(0, to)).replaceAll("[0-9]+", "N"));
        if (simulation.running != null && said.startsWith("connected: peer=")) {
            int space = said.indexOf(' ', 11);
            simulation.running.connected(Integer.parseInt(said.substring("connected: peer=".length(), space)));
        }
        if (end >= 0 && simulation.running != null && said.startsWith("peer ") && said.contains(" failed: ")) {
            Verdicts.check(simulation, simulation.running, said);
        }
    }

    /// Whether a line that says what has failed cannot be written.
    private boolean isLogFull() {
        long throwing = simulation.schedule.config().getOrDefault("logThrows", 0L);
        return throwing > 0 && random.nextLong(throwing) == 0;
    }
}
