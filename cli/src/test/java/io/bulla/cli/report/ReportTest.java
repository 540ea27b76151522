// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.report;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What a broadcast reports.
class ReportTest {

    @Test
    void processesThatShrankHaveTakenNoMessages() {
        StringWriter out = new StringWriter();
        new Report(2, 2, 1000, 2, 0, 0, 2, 0, 1, List.of(), new Report.Host(4000, -556_450))
                .print(new PrintWriter(out));
        assertTrue(
                out.toString().contains("sockets: socket-bytes=4000 memory-of-all=-556450 messages=0.00"),
                out.toString());
    }
}
