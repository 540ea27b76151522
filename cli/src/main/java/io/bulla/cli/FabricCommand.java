// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import io.bulla.fabric.FabricException;
import io.bulla.fabric.FabricProvider;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `bulla fabric`: what libfabric has here, and what each provider promises.
@Command(
        name = "fabric",
        mixinStandardHelpOptions = true,
        description = "List the providers of libfabric, what ends a peer's writes, and their limits.")
final class FabricCommand implements Callable<Integer> {

    private static final String ROW = "%-14s %-10s %-10s %-9s %8s %20s  %s%n";

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws FabricException {
        PrintWriter out = spec.commandLine().getOut();
        List<FabricProvider> all = FabricProvider.all();
        out.printf(ROW, "provider", "domain", "fence", "promised", "key", "most bytes", "target of a write");
        for (FabricProvider each : all) {
            out.printf(
                    ROW,
                    each.name(),
                    each.domain(),
                    each.fence(),
                    each.fence().isPromised() ? "yes" : "no",
                    each.keyBytes(),
                    each.mostMessageBytes() == Long.MAX_VALUE ? "no limit" : each.mostMessageBytes(),
                    each.byAddress() ? "address" : "offset");
        }
        return all.isEmpty() ? 1 : 0;
    }
}
