// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// That `./check sim --scale` tells the same each time, and counts what its costs say.
class ScaleTest {

    private static final int BYTES = 256 << 10;
    private static final int FRAGMENT = 64 << 10;
    private static final int HEADER = 64;

    private static Costs costs() throws IOException {
        return Costs.read(Path.of("scale", "costs.properties"));
    }

    private static Scale.Job job(int nodes, int failing) {
        return new Scale.Job(nodes, new Radix(4), BYTES, FRAGMENT, failing, 0);
    }

    @Test
    void thousandNodesAreTheSameRunTwice() throws IOException {
        Scale.Result first = Scale.run(job(1000, 0), costs());
        Scale.Result second = Scale.run(job(1000, 0), costs());
        assertEquals(first.digest(), second.digest());
        assertEquals(first.lastNanos(), second.lastNanos());
        assertEquals(999, first.reached());
        assertEquals(BYTES, first.peakBytes(), "of one message, at a relay as at a leaf");
        assertNotEquals(first.digest(), Scale.run(job(999, 0), costs()).digest());
    }

    @Test
    void everyLivingNodeOfAThousandHasItAlthoughTenFail() throws IOException {
        Scale.Result result = Scale.run(job(1000, 10), costs());
        assertEquals(989, result.reached());
        assertEquals(10, result.failed());
        // the default peer timeout, counted from when a peer was last heard
        assertTrue(result.confirmedNanos() > 4 * World.SECOND, "nanos=" + result.confirmedNanos());
    }

    @Test
    void oneHopTakesWhatItsLinkTakes() throws IOException {
        long latency = 10 * World.MILLI;
        long rate = 10_000_000;
        Costs linkOnly = new Costs(0, 0, 0, 0, 0, latency, rate, BYTES * 4);
        Scale.Job job = new Scale.Job(2, new Radix(1), BYTES, BYTES, 0, 0);
        long link = World.SECOND / rate * (BYTES + HEADER);
        assertEquals(latency + link, Scale.run(job, linkOnly).lastNanos());
    }

    @Test
    void oneHopTakesWhatItsProcessorsTake() throws IOException {
        long call = 1_000_000;
        Costs processorOnly = new Costs(call, 2_000, 3_000, 0, 0, 0, Long.MAX_VALUE, BYTES * 4);
        Scale.Job job = new Scale.Job(2, new Radix(1), BYTES, BYTES, 0, 0);
        // the handler's turn is behind that of the loop, which also writes an acknowledgement and a confirmation
        long answers = 2 * (call + 3 * HEADER);
        assertEquals(
                2 * call + 5 * (BYTES + HEADER) + answers,
                Scale.run(job, processorOnly).lastNanos());
    }
}
