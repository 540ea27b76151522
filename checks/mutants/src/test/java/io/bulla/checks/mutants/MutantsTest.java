// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.checks.house.LedgerCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The definitions of `./check mutants` against the sources, so that a change of a source which leaves a mutant
/// behind is seen at once. Whether a test sees the mutant is for that check.
class MutantsTest {

    private static final Path ROOT = root();

    @Test
    void everyMutantAppliesToItsSource() throws IOException {
        var wrong = new ArrayList<String>();
        for (Mutant mutant : mutants()) {
            String source = Files.readString(ROOT.resolve(mutant.source()));
            try {
                if (mutant.applied(source).equals(source)) {
                    wrong.add("changes nothing: mutant=" + mutant.name());
                }
            } catch (IllegalStateException notThere) {
                wrong.add(notThere.getMessage());
            }
        }
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    @Test
    void everyNameIsOneOfItsKind() throws IOException {
        var names = new HashSet<String>();
        var twice = mutants().stream().map(Mutant::name).filter(name -> !names.add(name));
        assertEquals(List.of(), twice.toList());
    }

    @Test
    void everyMutantNamesTestsOrTwinsThatAreThere() throws IOException {
        var wrong = new ArrayList<String>();
        for (Mutant mutant : mutants()) {
            if (mutant.tests().isEmpty() && mutant.twins().isEmpty()) {
                wrong.add("nothing kills " + mutant.name());
            }
            for (String test : mutant.tests()) {
                if (!isThere(test)) {
                    wrong.add("no such test: mutant=" + mutant.name() + " test=" + test);
                }
            }
            for (String twin : mutant.twins()) {
                if (!Files.exists(ROOT.resolve("stress/litmus/" + twin + ".weakened.litmus"))) {
                    wrong.add("no such twin: mutant=" + mutant.name() + " twin=" + twin);
                }
            }
        }
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    /// Which claim's code it is that a mutant changes, only its class file says: `./check mutants` looks there.
    @Test
    void everyTwinIsOneOfAClaimInTheMutantsSource() throws IOException {
        var wrong = new ArrayList<String>();
        for (Mutant mutant : mutants()) {
            String type = mutant.source().getFileName().toString().replace(".java", ".");
            for (String twin : mutant.twins()) {
                if (!LedgerCheck.isTwinIn(ROOT, twin, type)) {
                    wrong.add("twin of no claim of the ledger with code there: mutant=" + mutant.name() + " twin="
                            + twin);
                }
            }
        }
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    private static boolean isThere(String test) throws IOException {
        boolean stress = test.startsWith("stress:");
        String[] parts = (stress ? test.substring(7) : test).split("#");
        String type = parts[0].replace('.', '/') + ".java";
        Stream<String> folders = stress
                ? Stream.of("stress/src/main/java")
                : Stream.of(
                                "refcount",
                                "iovec",
                                "buffer-core",
                                "pool",
                                "fanout",
                                "interop/netty",
                                "native/posix",
                                "native/registration",
                                "runtime/oob")
                        .map(module -> module + "/src/test/java");
        for (String folder : folders.toList()) {
            Path source = ROOT.resolve(folder).resolve("io/bulla/" + type);
            if (Files.exists(source)) {
                return parts.length == 1 || Files.readString(source).contains(" " + parts[1] + "(");
            }
        }
        return false;
    }

    private static List<Mutant> mutants() throws IOException {
        return Mutant.all(ROOT.resolve("stress/mutants"));
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        while (here != null && !Files.exists(here.resolve("docs/memory-model.md"))) {
            here = here.getParent();
        }
        assertTrue(here != null, "no docs/memory-model.md above the working directory");
        return here;
    }
}
