// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.internal.StillHeld;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// A source that was closed without patience, and is held.
class HeldAfterTheEndTest {

    private static final String LINE = "memory source closed with open handles: chunks=1 waited=\\d+ms"
            + " held by \\[peer-17: handles=1 size=1000 oldest=\\d+ms]";

    @Test
    void saysOnceWhoHolds() throws InterruptedException {
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        ArenaSource source = ArenaSource.builder()
                .trace(LeaseLedger.full())
                .grace(Duration.ofMillis(1), lines::add)
                .build();
        SealedBuffer forgotten = Bytes.sealed(source, 1000, "peer-17");
        source.close();
        String line = lines.poll(60, TimeUnit.SECONDS);
        assertTrue(line != null && line.matches(LINE), line);
        forgotten.close();
        source.close(Duration.ofSeconds(60));
        assertEquals(List.of(), List.copyOf(lines), "said once");
    }

    /// The end of the process is the event: by then it has been said.
    @Test
    void logHasItAtWarning() throws IOException, InterruptedException {
        Process program = new ProcessBuilder(ForkedJvm.command(Program.class))
                .redirectErrorStream(true)
                .start();
        String said = new String(program.getInputStream().readAllBytes());
        assertEquals(0, program.waitFor(), said);
        assertTrue(said.lines().anyMatch(line -> line.matches("WARNING: " + LINE)), said);
    }

    static final class Program {

        public static void main(String[] args) throws InterruptedException {
            BlockingQueue<String> lines = new LinkedBlockingQueue<>();
            ArenaSource source = ArenaSource.builder()
                    .trace(LeaseLedger.full())
                    .grace(Duration.ofMillis(1), line -> {
                        StillHeld.warning("io.bulla.buffer").accept(line);
                        lines.add(line);
                    })
                    .build();
            SealedBuffer forgotten = Bytes.sealed(source, 1000, "peer-17");
            source.close();
            if (lines.poll(60, TimeUnit.SECONDS) == null) {
                System.exit(1);
            }
            forgotten.close();
        }
    }
}
