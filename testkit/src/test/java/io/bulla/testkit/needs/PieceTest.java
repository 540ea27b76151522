// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.needs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.opentest4j.TestAbortedException;

class PieceTest {

    private static final List<String> RAN = new ArrayList<>();

    /// Run by the tests here alone.
    @Needs(value = Piece.LIBFABRIC, by = Missing.class)
    static class WithoutThePiece {

        @AfterEach
        void after() {
            RAN.add("after");
        }

        @Test
        void first() {
            RAN.add("first");
        }

        @Test
        void second() {
            RAN.add("second");
        }
    }

    /// Run by the tests here alone.
    static class WithThePiece {

        @Test
        @Needs(value = Piece.IO_URING, by = There.class)
        void first() {
            RAN.add("first");
        }

        @Test
        @Needs(value = Piece.IO_URING, by = There.class)
        @Needs(value = Piece.LIBFABRIC, by = Failing.class)
        void second() {
            RAN.add("second");
        }
    }

    static final class Missing implements Probe {

        static int asked;

        @Override
        public @Nullable String missing() {
            asked++;
            return "not\nhere";
        }
    }

    static final class There implements Probe {

        @Override
        public @Nullable String missing() {
            return null;
        }
    }

    static final class Failing implements Probe {

        @Override
        public @Nullable String missing() throws IOException {
            throw new IOException("broken: errno=5");
        }
    }

    private static List<String> run(Class<?> tests) {
        RAN.clear();
        List<String> reasons = new ArrayList<>();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(DiscoverySelectors.selectClass(tests))
                                .build(),
                        new TestExecutionListener() {
                            @Override
                            public void executionFinished(
                                    TestIdentifier test, org.junit.platform.engine.TestExecutionResult result) {
                                result.getThrowable().ifPresent(thrown -> reasons.add(thrown.getMessage()));
                            }
                        });
        return reasons;
    }

    @Test
    void eachTestOfAClassIsSkippedByNameAndNoneOfItsMethodsRuns() {
        assertEquals(
                List.of(
                        "needs libfabric: not; apt-get install libfabric1",
                        "needs libfabric: not; apt-get install libfabric1"),
                run(WithoutThePiece.class));
        assertEquals(List.of(), RAN);
        assertEquals(1, Missing.asked, "a probe is asked once");
    }

    @Test
    void probeThatThrowsSaysWhatIsMissing() {
        assertEquals(List.of("needs libfabric: broken: errno=5; apt-get install libfabric1"), run(WithThePiece.class));
        assertEquals(List.of("first"), RAN);
    }

    @Test
    void nothingIsSkippedWithoutAReason() {
        assertDoesNotThrow(() -> Piece.CRIU.orSkip(null));
        assertEquals(
                "needs criu: gone; " + Piece.CRIU.remedy(),
                assertThrows(TestAbortedException.class, () -> Piece.CRIU.orSkip(new IOException("gone")))
                        .getMessage());
    }

    @Test
    void pieceWithoutAProbeWantsOne() {
        assertThrows(IllegalStateException.class, Piece.LIBFABRIC::ownProbe);
        assertNull(Answers.of(Piece.OPENSSL, There.class));
    }

    @Test
    void eachPieceHasANameOfItsOwnAndARemedyInOneLine() {
        Set<String> names = new TreeSet<>();
        for (Piece each : Piece.values()) {
            assertTrue(names.add(each.title()), each.title());
            assertTrue(each.title().matches("[A-Za-z0-9_-]+"), each.title());
            assertFalse(each.remedy().isBlank() || each.remedy().contains("\n"), each.title());
        }
    }

    /// Below testkit there is no way to name a piece; there is no test above it that skips in another way.
    @Test
    void testsAboveSkipInNoOtherWay() throws IOException {
        Path root = Path.of("..").toAbsolutePath().normalize();
        List<String> below = List.of("refcount", "iovec", "buffer-core");
        List<String> others = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(each -> each.toString().endsWith("Test.java")
                            && each.toString().contains("/src/test/")
                            && !below.contains(root.relativize(each).getName(0).toString())
                            && !each.toString().contains("/target/"))
                    .toList()) {
                String text = Files.readString(file);
                if (text.contains("org.junit.jupiter.api." + "Assumptions")
                        || text.contains("org.junit.jupiter.api." + "Disabled")
                        || text.contains("org.junit.jupiter.api." + "condition")) {
                    others.add(root.relativize(file).toString());
                }
            }
        }
        assertEquals(List.of(), others);
    }
}
