// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressTest {

    private final StringWriter painted = new StringWriter();
    private final AtomicInteger columns = new AtomicInteger();

    private Progress.Bar bar(int nodes) {
        return new Progress.Bar(nodes, new PrintWriter(painted), columns::get);
    }

    /// A terminal goes to the next line after its last column, and what was painted there stays.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 20, 21, 25, 26, 40, 80, 200})
    void lineFitsAnyWidth(int width) {
        columns.set(width);
        Progress.Bar bar = bar(1000);
        for (int done = 0; done <= 1000; done += 50) {
            bar.verified(done);
        }
        bar.done();
        for (String line : painted.toString().split("\r")) {
            assertTrue(line.length() < width, () -> "width=" + width + " line=" + line);
        }
        assertFalse(painted.toString().contains("\n"));
    }

    @Test
    void lineFollowsAWindowThatIsResized() {
        columns.set(80);
        Progress.Bar bar = bar(16);
        bar.verified(8);
        columns.set(30);
        bar.verified(16);
        assertEquals(
                "\r[" + "=".repeat(20) + " ".repeat(20) + "] 8/16 nodes verified\r[======] 16/16 nodes verified",
                "" + painted);
    }
}
