// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The house: arrows point down only. This module sees all the others.
class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.bulla");

    @Test
    void packagesHaveNoCycle() {
        for (String room : new String[] {
            "refcount",
            "iovec",
            "buffer",
            "pack",
            "pack.text",
            "pack.value",
            "pool",
            "pool.device",
            "interop.netty",
            "interop.posix",
            "interop.fabric",
            "interop.agrona",
            "interop.aeron",
            "interop.grpc",
            "interop.flight",
            "interop.micrometer",
            "interop.image",
            "runtime.registration",
            "runtime.oob",
            "runtime.checkpoint",
            "runtime.pmix",
            "runtime.oob.bulk",
            "runtime.oob.fabric",
            "runtime.oob.pmix",
            "runtime.oob.local",
            "cli",
            "cli.xcast",
            "cli.share",
            "cli.shell"
        }) {
            assertTrue(CLASSES.containPackage("io.bulla." + room), room);
        }
        slices().matching("io.bulla.(**)").should().beFreeOfCycles().check(CLASSES);
    }

    /// The largest set of classes of a module that all need each other, itself or through others: a figure reached is
    /// kept.
    @ParameterizedTest
    @CsvSource({
        "5, io.bulla.refcount",
        "8, io.bulla.iovec",
        "7, io.bulla.buffer",
        "20, io.bulla.pack",
        "2, io.bulla.testkit",
        "3, io.bulla.interop.posix",
        "0, io.bulla.interop.netty",
        "0, io.bulla.interop.agrona",
        "0, io.bulla.interop.aeron",
        "0, io.bulla.interop.grpc",
        "0, io.bulla.interop.flight",
        "20, io.bulla.runtime.oob",
        "0, io.bulla.runtime.checkpoint",
        "2, io.bulla.runtime.pmix",
        "2, io.bulla.runtime.oob.pmix",
        "0, io.bulla.runtime.oob.local",
        "3, io.bulla.runtime.oob.fabric",
        "5, io.bulla.cli"
    })
    void knotsOfClassesDoNotGrow(int most, String module) {
        List<Set<String>> knots = Knots.of(CLASSES.that(resideInAPackage(module + "..")).stream()
                .map(ArchitectureTest::classFile)
                .toList());
        int largest = knots.isEmpty() ? 0 : knots.getFirst().size();
        assertEquals(most, largest, () -> "knots: " + Knots.text(knots));
    }

    private static byte[] classFile(JavaClass type) {
        try (InputStream in = type.getSource().orElseThrow().getUri().toURL().openStream()) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void countAndRegionsDoNotKnowEachOther() {
        noClasses()
                .that()
                .resideInAPackage("io.bulla.refcount")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.bulla.iovec", "io.bulla.buffer..", "java.lang.foreign")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("io.bulla.iovec")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.bulla.refcount", "io.bulla.buffer..")
                .check(CLASSES);
    }

    /// Exported to three modules by name; here that is held on the class path, too.
    @Test
    void whatIsInternalToBuffersIsKnownToThreeRooms() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "io.bulla.buffer..",
                        "io.bulla.pack",
                        "io.bulla.pack.text",
                        "io.bulla.pool",
                        "io.bulla.interop.agrona")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.buffer.internal")
                .check(CLASSES);
    }

    @Test
    void whatDevicesMayDoIsKnownAboveThePoolAlone() {
        noClasses()
                .that()
                .resideInAPackage("io.bulla.runtime.registration")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "java..",
                        "jdk.jfr..",
                        "org.jspecify.annotations",
                        "io.bulla.refcount",
                        "io.bulla.iovec",
                        "io.bulla.buffer",
                        "io.bulla.pool..",
                        "io.bulla.runtime.registration")
                .check(CLASSES);
    }

    @Test
    void aClientOfALauncherNeedsFormatsAlone() {
        noClasses()
                .that()
                .resideInAPackage("io.bulla.runtime.pmix")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "java..",
                        "jdk.net",
                        "org.jspecify.annotations",
                        "io.bulla.refcount",
                        "io.bulla.iovec",
                        "io.bulla.buffer",
                        "io.bulla.pack..",
                        "io.bulla.runtime.pmix")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage("io.bulla.runtime.oob", "io.bulla.runtime.pmix")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.runtime.oob.pmix")
                .check(CLASSES);
    }

    /// What the default path pays for registrations is nothing: its class files name none of it.
    @Test
    void defaultPathKnowsNoRegistration() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.bulla.refcount..",
                        "io.bulla.iovec..",
                        "io.bulla.buffer..",
                        "io.bulla.pack..",
                        "io.bulla.interop.netty..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.bulla.pool..", "io.bulla.runtime..", "io.bulla.interop.fabric")
                .check(CLASSES);
    }

    /// Who wants neither a fabric nor registrations has none on the path.
    @Test
    void nodesKnowNoFabric() {
        noClasses()
                .that()
                .resideInAPackage("io.bulla.runtime.oob..")
                .and()
                .resideOutsideOfPackage("io.bulla.runtime.oob.fabric")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.bulla.interop.fabric",
                        "io.bulla.runtime.registration",
                        "io.bulla.runtime.oob.fabric",
                        "io.bulla.pool..")
                .check(CLASSES);
    }

    @Test
    void nodesKnowNothingOfSharedSlabs() {
        noClasses()
                .that()
                .resideInAnyPackage("io.bulla.runtime.oob", "io.bulla.interop.posix")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.runtime.oob.local")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("io.bulla.runtime.oob")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.interop.posix")
                .check(CLASSES);
    }

    @Test
    void aCheckpointNeedsNodesAlone() {
        noClasses()
                .that()
                .resideInAPackage("io.bulla.runtime.checkpoint")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "java..",
                        "org.jspecify.annotations",
                        "io.bulla.refcount",
                        "io.bulla.iovec",
                        "io.bulla.buffer",
                        "io.bulla.pack",
                        "io.bulla.runtime.oob",
                        "io.bulla.runtime.checkpoint")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage("io.bulla.runtime.oob..", "io.bulla.runtime.pmix")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.runtime.checkpoint")
                .check(CLASSES);
    }

    @Test
    void restrictedMethodsAreCalledInTwoRooms() {
        noClasses()
                .that()
                .resideOutsideOfPackages("io.bulla.interop.posix", "io.bulla.interop.fabric")
                .should()
                .callMethodWhere(JavaCall.Predicates.target(HasName.Predicates.name("reinterpret")
                        .or(HasName.Predicates.name("downcallHandle"))
                        .or(HasName.Predicates.name("libraryLookup"))))
                .check(CLASSES);
    }

    @Test
    void librariesStandOnTheJdk() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.bulla.refcount", "io.bulla.iovec", "io.bulla.buffer..", "io.bulla.pack..", "io.bulla.pool")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "java..",
                        "javax.management..",
                        "com.sun.management..",
                        "jdk.jfr..",
                        "org.jspecify.annotations",
                        "io.bulla..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages("io.bulla.interop.agrona", "io.bulla.interop.aeron")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.agrona..", "io.aeron..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages("io.bulla.interop.micrometer")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.micrometer..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages("io.bulla.interop.image")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.crac..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages("io.bulla.interop.grpc", "io.bulla.interop.flight", "io.bulla.bench..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.grpc..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages("io.bulla.interop.flight")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.arrow..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("io.bulla.interop.grpc")
                .and()
                .doNotHaveSimpleName("ParsedMessage")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("com.google..", "io.netty..")
                .check(CLASSES);
        noClasses()
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("sun.misc.Unsafe")
                .check(CLASSES);
    }
}
