// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Images of processes with messages on their way, by CRIU: nothing is lost or doubled, and time away is not
/// judged. `./check criu` has more images.
@Needs(value = Piece.CRIU, by = CriuDumps.class)
class CriuImageTest {

    private static final int IMAGES = Integer.getInteger("bulla.images", 1);
    // more than the nodes' patience with a peer
    private static final int AWAY = Integer.getInteger("bulla.away", 0);

    private final Random random = new Random();
    private final List<ImageProcess> processes = new ArrayList<>();
    private Criu criu;
    private long onTheirWay;

    @BeforeEach
    void criuIsThere() throws IOException {
        criu = Criu.onPath().orElseThrow();
    }

    @AfterEach
    void noProcessIsLeft() throws InterruptedException {
        for (ImageProcess each : processes) {
            each.end();
        }
    }

    private void start(Path folder, String... ranks) throws Exception {
        for (String each : ranks) {
            processes.add(ImageProcess.start(folder, each, criu.program().toString(), ranks.length == 1 ? "10" : "60"));
        }
    }

    private void takeImages(Path folder) throws Exception {
        for (int image = 0; image < IMAGES; image++) {
            Thread.sleep(random.nextInt(400));
            Files.createFile(folder.resolve("take-" + image));
            for (ImageProcess each : processes) {
                each.awaitDumped();
            }
            Thread.sleep(image == 0 ? AWAY * 1000L : random.nextInt(1000));
            // in either order
            List<ImageProcess> order = image % 2 == 0 ? processes : processes.reversed();
            for (ImageProcess each : order) {
                onTheirWay += each.restore(criu);
                Thread.sleep(random.nextInt(300));
            }
            for (ImageProcess each : processes) {
                each.awaitRestored();
            }
        }
        Files.createFile(folder.resolve("stop"));
    }

    private void nothingIsLostOrDoubled(String what) throws Exception {
        int[] sums = new int[4];
        for (ImageProcess each : processes) {
            each.await("ends");
            for (String line : each.said()) {
                if (line.startsWith("total ")) {
                    System.out.println("image: " + line);
                    sums[0] += number(line, "failed=");
                    sums[1] += number(line, "verdicts=");
                    sums[2] += number(line, "lost=");
                    sums[3] += number(line, "doubled=");
                }
            }
        }
        System.out.println("images: of=" + what + " criu=" + criu.version() + " dumps=" + IMAGES * processes.size()
                + " restores=" + IMAGES * processes.size() + " onTheirWay=" + onTheirWay + " failed=" + sums[0]
                + " verdicts=" + sums[1] + " lost=" + sums[2] + " doubled=" + sums[3]);
        assertEquals(List.of(0, 0, 0, 0), List.of(sums[0], sums[1], sums[2], sums[3]));
        assertTrue(onTheirWay > 0, "nothing was on its way at any image");
    }

    private static int number(String line, String key) {
        String rest = line.substring(line.indexOf(key) + key.length());
        return Integer.parseInt(rest.split(" ")[0]);
    }

    @Test
    void twoNodesOfOneProcessLoseNothing(@TempDir Path folder) throws Exception {
        start(folder, "01");
        takeImages(folder);
        nothingIsLostOrDoubled("one");
    }

    @Test
    void twoProcessesRestoredInEitherOrderLoseNothing(@TempDir Path folder) throws Exception {
        start(folder, "0", "1");
        takeImages(folder);
        nothingIsLostOrDoubled("two");
    }
}
