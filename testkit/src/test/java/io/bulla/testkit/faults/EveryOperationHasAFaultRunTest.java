// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene.Memory;
import io.bulla.testkit.Modules;
import io.bulla.testkit.Repository;
import io.bulla.testkit.faults.odd.Odd;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The public methods of the libraries, as their class files have them, against the fault runs; and the libraries, as
/// their `api.txt` have them, against the list of those that are run.
class EveryOperationHasAFaultRunTest {

    /// Published modules without a fault run for each public operation, and why.
    private static final Map<String, String> NOT_YET =
            Map.of("testkit", "it is the tool: what it does when a call fails is what PlantedViolationsTest looks at");

    /// The test of a module that has its catalogue in its own tests.
    private static final String OF_ITS_OWN = "EveryOperationFaultTest.java";

    /// What it has to ask of its catalogue, each by one of its forms.
    private static final List<List<List<String>>> OWN_CHECKS = List.of(
            List.of(List.of(".checkWhole("), List.of("assertEquals(List.of(), ", ".missing()", ".packages()")),
            List.of(List.of(".checkHandles(")),
            List.of(List.of(".checkPromises("), List.of(".callingBack()", "run::operation", ".check()")));

    @Test
    void everyPublishedModuleHasFaultRunsOrAReason() throws IOException {
        TreeSet<String> published = new TreeSet<>(Modules.published().keySet());
        TreeSet<String> listed = new TreeSet<>(NOT_YET.keySet());
        for (String module : published) {
            if (hasFaultRunsOfItsOwn(module)) {
                assertTrue(listed.add(module), "run, and listed as not run: " + module);
            }
        }
        for (FaultCatalogue each : Catalogues.all()) {
            String module = published.stream()
                    .filter(one -> one.equals(each.area()) || one.endsWith("/" + each.area()))
                    .findFirst()
                    .orElse("no module of this name: " + each.area());
            assertTrue(listed.add(module), "run, and listed as not run: " + module);
        }
        assertEquals(published, listed);
    }

    /// In the tests of a module that `testkit` is below: by a catalogue that may miss nothing.
    private static boolean hasFaultRunsOfItsOwn(String module) throws IOException {
        Path tests = Repository.ROOT.resolve(module).resolve("src/test/java");
        if (!Files.isDirectory(tests)) {
            return false;
        }
        try (Stream<Path> files = Files.walk(tests)) {
            Optional<Path> own = files.filter(file -> file.endsWith(OF_ITS_OWN)).findFirst();
            if (own.isEmpty()) {
                return false;
            }
            String text = Files.readString(own.get());
            for (List<List<String>> forms : OWN_CHECKS) {
                assertTrue(
                        forms.stream().anyMatch(form -> form.stream().allMatch(text::contains)),
                        own.get() + " is without any of " + forms);
            }
            return true;
        }
    }

    @Test
    void everyPackageOfTheModulesIsRun() throws IOException {
        Map<String, Path> published = Modules.published();
        for (FaultCatalogue each : Catalogues.all()) {
            Path api = published.entrySet().stream()
                    .filter(one ->
                            one.getKey().equals(each.area()) || one.getKey().endsWith("/" + each.area()))
                    .findFirst()
                    .orElseThrow()
                    .getValue();
            each.checkWhole(api);
        }
    }

    @Test
    void noPublicOperationIsWithoutAFaultRun() {
        List<String> missing = new ArrayList<>();
        Catalogues.all().forEach(catalogue -> missing.addAll(catalogue.missing()));
        assertEquals(List.of(), missing);
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        Catalogues.all().forEach(FaultCatalogue::checkHandles);
    }

    @Test
    void operationsAreThoseOfTheApi() {
        TreeSet<String> found = new TreeSet<>();
        Catalogues.all().forEach(catalogue -> found.addAll(catalogue.runs().keySet()));
        for (String known : List.of(
                "Lease.retain(Object, Lease[])",
                "RefCount.free()",
                "DirectReads.getFloat(int)",
                "BuilderDirectBuffer.putStringUtf8(int, String)",
                "ArenaSource.Builder.build()",
                "Packer.packInt32(int[])",
                "SlabSource.grow(MemorySource.Region, long)",
                "MemorySource.Region.release()")) {
            assertTrue(found.contains(known), known);
        }
    }

    @Test
    void operationThatNothingCanBeGivenToIsMissing() {
        assertEquals(
                List.of("no fault run: Odd.take(Odd.Unknown)", "no such operation: Odd.gone()"),
                Catalogues.of("odd", Odd.class)
                        .receiver(Odd.class, scene -> new Odd())
                        .on("Odd.gone()", scene -> FaultCall.on(null))
                        .missing());
    }

    @Test
    void catalogueThatIsNotWholeSaysWhatIsMissing() throws IOException {
        FaultCatalogue odd = Catalogues.of("odd", Odd.class).receiver(Odd.class, scene -> new Odd());
        Path api = Modules.published().get("pool");
        AssertionError notWhole = assertThrows(AssertionError.class, () -> odd.checkWhole(api));
        assertTrue(
                notWhole.getMessage().contains("missing=[no fault run: Odd.take(Odd.Unknown)]"), notWhole::getMessage);
        odd.on("Odd.take(Odd.Unknown)", scene -> FaultCall.on(new Odd(), (Object) null));
        notWhole = assertThrows(AssertionError.class, () -> odd.checkWhole(api));
        assertTrue(notWhole.getMessage().contains("published=[io.bulla.pool"), notWhole::getMessage);
    }

    @Test
    void catalogueWhoseOperationBreaksAPromiseIsNotGreen() {
        FaultCatalogue odd = Catalogues.of("odd", Odd.class)
                .receiver(Odd.class, scene -> new Odd())
                .on("Odd.take(Odd.Unknown)", scene -> {
                    scene.owed("what is never given back", () -> 1);
                    return FaultCall.on(new Odd(), (Object) null);
                });
        // the line of a planted violation is not one of `./check faults`
        PrintStream out = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true));
        try {
            AssertionError broken = assertThrows(AssertionError.class, () -> odd.checkPromises(Memory.ARENA));
            assertTrue(broken.getMessage().contains("Odd.take(Odd.Unknown)"), broken::getMessage);
        } finally {
            System.setOut(out);
        }
        assertTrue(printed.toString().startsWith("faults: area=odd operations=3 "), printed::toString);
    }
}
