// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.cli.Bulla;
import io.bulla.fabric.FabricDomain;
import io.bulla.fanout.Fanout;
import io.bulla.interop.aeron.SealedOffer;
import io.bulla.interop.agrona.SealedDirectBuffer;
import io.bulla.interop.flight.FlightFeed;
import io.bulla.interop.grpc.SealedMarshaller;
import io.bulla.interop.netty.FrameReader;
import io.bulla.interop.websocket.PreparedMessage;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.refcount.RefCount;
import io.bulla.registration.Registrations;
import io.bulla.runtime.checkpoint.CheckpointArchive;
import io.bulla.runtime.image.Standstill;
import io.bulla.runtime.micrometer.OobMetrics;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.fabric.FabricBulk;
import io.bulla.runtime.oob.local.SlabMemory;
import io.bulla.runtime.oob.pmix.PmixNodes;
import io.bulla.runtime.pmix.PmixClient;
import io.bulla.testkit.StingySource;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The ledger of the memory model against the class files, and the tests that it names against the sources.
class LedgerTest {

    private static final Map<String, Class<?>> MODULES = Map.ofEntries(
            Map.entry("refcount", RefCount.class),
            Map.entry("iovec", IoVec.class),
            Map.entry("buffer-core", BufferBuilder.class),
            Map.entry("pack-unpack", Packer.class),
            Map.entry("pool", SlabSource.class),
            Map.entry("fanout", Fanout.class),
            Map.entry("native/posix", PosixSocket.class),
            Map.entry("native/fabric", FabricDomain.class),
            Map.entry("interop/netty", FrameReader.class),
            Map.entry("interop/websocket", PreparedMessage.class),
            Map.entry("interop/agrona", SealedDirectBuffer.class),
            Map.entry("interop/aeron", SealedOffer.class),
            Map.entry("interop/grpc", SealedMarshaller.class),
            Map.entry("interop/flight", FlightFeed.class),
            Map.entry("runtime/micrometer", OobMetrics.class),
            Map.entry("runtime/image", Standstill.class),
            Map.entry("native/registration", Registrations.class),
            Map.entry("runtime/oob", OobNode.class),
            Map.entry("runtime/checkpoint", CheckpointArchive.class),
            Map.entry("runtime/pmix", PmixClient.class),
            Map.entry("runtime/oob-pmix", PmixNodes.class),
            Map.entry("runtime/oob-local", SlabMemory.class),
            Map.entry("runtime/oob-fabric", FabricBulk.class),
            Map.entry("cli", Bulla.class),
            Map.entry("testkit", StingySource.class));

    private static final Path ROOT = root();
    private static final Ledger LEDGER = new Ledger(ROOT);

    @Test
    void everyAccessHasARowAndEveryRowItsAccess() {
        var rows = LEDGER.accesses();
        assertEquals(MODULES.keySet(), rows.keySet());
        assertEquals(MODULES.keySet(), Set.of(LedgerCheck.MODULES));
        var wrong = new ArrayList<String>();
        MODULES.forEach((module, anchor) ->
                wrong.addAll(LedgerCheck.differences(module, rows.get(module), AccessSites.in(homeOf(anchor)))));
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    @Test
    void everyTestThatTheClaimsNameIsThere() throws IOException {
        Set<String> tests = sources();
        Set<String> litmus = litmus();
        var missing = new ArrayList<String>();
        for (List<String> claim : LEDGER.table("## Claims")) {
            Stream.concat(Ledger.words(claim.get(3)).stream(), Ledger.words(claim.get(4)).stream())
                    .filter(word -> !word.startsWith("./"))
                    .filter(word -> !isThere(tests, word))
                    .forEach(missing::add);
            for (String name : Ledger.words(claim.get(5))) {
                if (!litmus.contains(name) || !hasTwin(litmus, name)) {
                    missing.add(name + ".litmus, or its weakened twin");
                }
            }
        }
        assertTrue(missing.isEmpty(), () -> "named and not there: " + missing);
    }

    @Test
    void everyPromiseOfReadmeHasARowAndItsTestsAreThere() throws IOException {
        Set<String> tests = sources();
        var promised = new ArrayList<String>();
        for (String line : Files.readAllLines(ROOT.resolve("README.md"))) {
            if (line.startsWith("| *")) {
                promised.add(line.split("\\|")[1].strip());
            }
        }
        var rows = LEDGER.table("## The nine promises");
        assertEquals(promised, rows.stream().map(row -> row.get(0)).toList());
        for (List<String> row : rows) {
            List<String> named = Ledger.words(row.get(2));
            assertFalse(named.isEmpty(), () -> row.get(0) + " without a test");
            named.forEach(test -> assertTrue(isThere(tests, test), () -> "named and not there: " + test));
        }
    }

    @Test
    void everyStressTestAndLitmusFileHasAClaim() throws IOException {
        var named = new TreeSet<String>();
        for (List<String> claim : LEDGER.table("## Claims")) {
            for (String word : Ledger.words(claim.get(3) + claim.get(4) + claim.get(5))) {
                named.add(word.replaceFirst("^buffer ", ""));
            }
        }
        var unnamed = litmus();
        unnamed.removeIf(file -> file.endsWith(".weakened") || named.contains(file));
        for (String name : sources()) {
            if (name.startsWith("stress:") && !named.contains(name.substring(7))) {
                unnamed.add(name);
            }
        }
        assertTrue(unnamed.isEmpty(), () -> "not named by any claim: " + unnamed);
    }

    @Test
    void aWeakerModeALostFenceAndANewSiteAreTold() {
        String site = "LedgerTest.Sample.step";
        Map<String, Set<String>> rows = Map.of(
                "LedgerTest.Sample.WORD getAcquire", Set.of(site),
                "LedgerTest.Sample.count incrementAndGet", Set.of(site),
                "- fullFence", Set.of(site));
        var found = new TreeMap<>(AccessSites.in(homeOf(Sample.class)));
        found.keySet().removeIf(access -> !found.get(access).contains(site));
        assertEquals(
                List.of(
                        "test: row without a site: - fullFence: " + site,
                        "test: row without a site: LedgerTest.Sample.WORD getAcquire: " + site,
                        "test: site without a row: LedgerTest.Sample.WORD getOpaque: " + site,
                        "test: site without a row: LedgerTest.Sample.seen volatile write: " + site),
                LedgerCheck.differences("test", rows, found));
    }

    private static boolean isThere(Set<String> tests, String word) {
        String name = word.replaceFirst("^buffer ", "");
        int dot = name.indexOf('.');
        return tests.contains(name) || dot > 0 && tests.contains(name.substring(0, dot)) && tests.contains(name);
    }

    private static boolean hasTwin(Set<String> litmus, String name) {
        return litmus.stream().anyMatch(file -> file.startsWith(name + "-") && file.endsWith(".weakened"));
    }

    private static Set<String> litmus() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT.resolve("stress").resolve("litmus"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".litmus"))
                    .map(name -> name.substring(0, name.length() - ".litmus".length()))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    // names of test classes, of their methods as Class.method, and of claims' stress tests as stress:Class besides
    private static Set<String> sources() throws IOException {
        var names = new TreeSet<String>();
        try (Stream<Path> files = Files.walk(ROOT, 14)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                String path = ROOT.relativize(file).toString().replace('\\', '/');
                String type = file.getFileName().toString().replace(".java", "");
                if (path.contains("src/test/") || path.startsWith("stress/src/")) {
                    String source = Files.readString(file);
                    names.add(type);
                    methods(source).forEach(method -> names.add(type + "." + method));
                    if (path.startsWith("stress/src/main/") && source.contains("\n@JCStressTest")) {
                        names.add("stress:" + type);
                    }
                    nested(source).forEach(names::add);
                }
            }
        }
        return names;
    }

    private static List<String> methods(String source) {
        return matches(source, "void (\\w+)\\(");
    }

    private static List<String> nested(String source) {
        return matches(source, "static class (\\w+)");
    }

    private static List<String> matches(String source, String pattern) {
        return Pattern.compile(pattern)
                .matcher(source)
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    private static Path homeOf(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        while (!Files.exists(here.resolve("docs").resolve("memory-model.md"))) {
            here = here.getParent();
            assertFalse(here == null, "no docs/memory-model.md above the working directory");
        }
        return here;
    }

    /// What the scan finds in a class of its own.
    static final class Sample {

        private static final VarHandle WORD;

        static {
            try {
                WORD = MethodHandles.lookup().findVarHandle(Sample.class, "word", int.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final AtomicInteger count = new AtomicInteger();
        private int word;
        private volatile int seen;

        void step() {
            seen = (int) WORD.getOpaque(this) + count.incrementAndGet();
        }
    }
}
