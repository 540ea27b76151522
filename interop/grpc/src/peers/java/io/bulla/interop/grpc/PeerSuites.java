// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;

/// Runs gRPC's own interop tests on our marshaller, and fails if another test fails than those that are known, a
/// known one passes, or a handle stays open.
final class PeerSuites {

    /// Tests of gRPC's that its transport in the same process does not pass with its own marshallers either.
    private static final Map<String, String> IN_PROCESS = Map.of(
            "maxInboundSize_tooBig", "in process gRPC holds no message against a limit",
            "maxOutboundSize_tooBig", "in process gRPC holds no message against a limit");

    private static final int LEAST = 25;

    private PeerSuites() {}

    /// Exit status 1 if a suite's result is another than known.
    public static void main(String[] args) throws InterruptedException {
        boolean good = run(GrpcsInteropTests.OverNetty.class, Map.of());
        good &= allClosed();
        good &= run(GrpcsInteropTests.InProcess.class, IN_PROCESS);
        good &= allClosed();
        System.exit(good ? 0 : 1);
    }

    /// Each handle was closed by gRPC, by its receiver, or as its call ended: none by the ledger.
    private static boolean allClosed() throws InterruptedException {
        int open = GrpcsInteropTests.HANDLES.open().size();
        for (int i = 0; i < 1000 && open != 0; i++) {
            Thread.sleep(10);
            open = GrpcsInteropTests.HANDLES.open().size();
        }
        long healed = GrpcsInteropTests.HANDLES.healed();
        System.out.println("peers: handles-open=" + open + " healed=" + healed + " forgotten="
                + GrpcsInteropTests.CALLS.forgotten() + " received=" + GrpcsInteropTests.SEALED.figures());
        return open == 0 && healed == 0;
    }

    private static boolean run(Class<?> suite, Map<String, String> known) {
        Result result = JUnitCore.runClasses(suite);
        result.getFailures()
                .forEach(failure -> System.out.println("  fails  " + failure.getDescription() + ": "
                        + known.getOrDefault(failure.getDescription().getMethodName(), failure.getTrimmedTrace())));
        TreeSet<String> failed = result.getFailures().stream()
                .map(failure -> failure.getDescription())
                .map(Description::getMethodName)
                .collect(Collectors.toCollection(TreeSet::new));
        System.out.println("peers: suite="
                + suite.getSuperclass().getSuperclass().getName() + " on="
                + suite.getSimpleName() + " tests=" + result.getRunCount() + " failed=" + failed.size() + " known="
                + known.size());
        // a suite that is not found would pass in silence
        return failed.equals(known.keySet()) && result.getRunCount() >= LEAST;
    }
}
