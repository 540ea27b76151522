// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.fanout.FanOutProgram;
import io.bulla.bench.fanout.Transport;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// One message to some peers, over one transport in one design: one JVM a round for all numbers of peers and all
/// sizes.
public final class FanOutCases {

    private static final Map<String, SharedRun> RUNS = new HashMap<>();

    private FanOutCases() {}

    /// Nanoseconds until every peer has the message.
    ///
    /// @param design one of the transport's
    public static Case of(Transport transport, String design, int peers, int bytes) {
        SharedRun run = RUNS.computeIfAbsent(
                transport + "." + design,
                _ -> SharedRun.program(
                        FanOutProgram.class,
                        length ->
                                List.of(transport.name(), design, length.name().toLowerCase(Locale.ROOT))));
        return new Case(
                transport.name().toLowerCase(Locale.ROOT) + "." + design + "[" + peers + "," + bytes + "]",
                "ns",
                run.reading("peers=" + peers + " bytes=" + bytes));
    }
}
