// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/// Runs a peer's own tests on our types, and fails if another test fails than those that are known, or a known one
/// passes.
final class PeerSuites {

    /// Tests of Netty's that a sealed region does not pass, and why.
    private static final Map<String, String> KNOWN = Map.of(
            "testConstructWithWritable()", "asks for an exception of the constructor of Netty's own class",
            "[2] Duplicate", "Netty's own duplicate of a foreign buffer says that it is writable; a write to it throws",
            "[3] Slice", "the same of a slice");

    private static final int LEAST = 60;

    private PeerSuites() {}

    /// Exit status 1 if a test's result is another than known.
    public static void main(String[] args) {
        // Netty's settings run tests beside each other
        Set<String> failed = ConcurrentHashMap.newKeySet();
        AtomicInteger ran = new AtomicInteger();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(NettysReadOnlyTests.class))
                                .build(),
                        new TestExecutionListener() {
                            @Override
                            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                                if (test.isTest()) {
                                    ran.incrementAndGet();
                                }
                                if (result.getStatus() != Status.SUCCESSFUL) {
                                    failed.add(test.getDisplayName());
                                    result.getThrowable()
                                            .ifPresent(why -> System.out.println("  fails  " + test.getDisplayName()
                                                    + ": "
                                                    + KNOWN.getOrDefault(test.getDisplayName(), why.toString())));
                                }
                            }
                        });
        boolean asKnown = failed.equals(KNOWN.keySet());
        System.out.println(
                "peers: suite=" + NettysReadOnlyTests.class.getSuperclass().getName() + " tests=" + ran + " failed="
                        + failed.size() + " known=" + KNOWN.size());
        // a suite that is not found would pass in silence
        System.exit(asKnown && ran.get() >= LEAST ? 0 : 1);
    }
}
