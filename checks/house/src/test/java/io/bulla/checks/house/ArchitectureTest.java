// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

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
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// The house: arrows point down only. This module sees all the others.
class ArchitectureTest {

    private static final Set<String> LIBRARIES =
            Set.of("refcount", "iovec", "buffer-core", "pack-unpack", "pool", "fanout");

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.bulla");

    @Test
    void packagesHaveNoCycle() throws IOException {
        for (House.Module module : House.of(Path.of("../..")).modules()) {
            if (module.knots() != null) {
                for (String room : module.packages().keySet()) {
                    assertTrue(CLASSES.containPackage(room), room);
                }
            }
        }
        slices().assignedFrom(new Rooms()).should().beFreeOfCycles().check(CLASSES);
    }

    /// Each package is a room. The roots of `runtime/oob` and `runtime/pmix` are two each, since their names are the
    /// API: the values, which every floor of it knows, and the façade, which knows every floor.
    private static final class Rooms implements SliceAssignment {

        private static final Map<String, Set<String>> VALUES = Map.of(
                "io.bulla.runtime.oob",
                Set.of(
                        "BroadcastResult",
                        "ConnectionLimits",
                        "Delivery",
                        "LocalMemory",
                        "Message",
                        "MessageHandler",
                        "MessageRefusedException",
                        "NoticeReceiver",
                        "PeerFailedException",
                        "PeerStats",
                        "QueueFullException",
                        "Send",
                        "SendOptions",
                        "SendPolicy",
                        "Transport"),
                "io.bulla.runtime.pmix",
                Set.of(
                        "PmixEnvironment",
                        "PmixEvent",
                        "PmixException",
                        "PmixOptions",
                        "PmixPartialException",
                        "PmixPersistence",
                        "PmixPublished",
                        "PmixRange",
                        "PmixScope",
                        "PmixServer",
                        "PmixStatus",
                        "PmixTimeoutException",
                        "PmixValue"));

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            String room = javaClass.getPackageName();
            if (!room.startsWith("io.bulla.")) {
                return SliceIdentifier.ignore();
            }
            Set<String> values = VALUES.get(room);
            return values == null
                    ? SliceIdentifier.of(room)
                    : SliceIdentifier.of(room, values.contains(outermost(javaClass)) ? "values" : "façade");
        }

        private static String outermost(JavaClass javaClass) {
            return javaClass
                    .getName()
                    .substring(javaClass.getPackageName().length() + 1)
                    .replaceFirst("[$].*", "");
        }

        @Override
        public String getDescription() {
            return "rooms";
        }
    }

    /// Each folder of modules needs those before it alone.
    @Test
    void foldersAreFloors() throws IOException {
        List<String> floors = List.of("", "native", "interop", "runtime", "cli");
        Map<String, Integer> floorOf = new TreeMap<>();
        for (House.Module module : House.of(Path.of("../..")).modules()) {
            int floor = floors.indexOf(
                    LIBRARIES.contains(module.folder()) ? "" : module.folder().replaceFirst("/.*", ""));
            if (floor >= 0) {
                module.packages().keySet().forEach(room -> floorOf.put(room, floor));
            }
        }
        assertEquals(Set.of(0, 1, 2, 3, 4), Set.copyOf(floorOf.values()));
        floorOf.forEach((room, floor) -> noClasses()
                .that()
                .resideInAPackage(room)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(floorOf.keySet().stream()
                        .filter(other -> floorOf.get(other) > floor)
                        .toArray(String[]::new))
                .allowEmptyShould(true)
                .check(CLASSES));
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

    /// Exported to six modules by name; here that is held on the class path, too.
    @Test
    void whatIsInternalToBuffersIsKnownToItsModulesAlone() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "io.bulla.buffer..",
                        "io.bulla.pack",
                        "io.bulla.pack.text",
                        "io.bulla.pool",
                        "io.bulla.posix.internal.calls",
                        "io.bulla.posix.internal.stream",
                        "io.bulla.posix.file",
                        "io.bulla.posix.lending",
                        "io.bulla.interop.agrona",
                        "io.bulla.registration",
                        "io.bulla.runtime.oob.internal..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.buffer.internal")
                .check(CLASSES);
    }

    @Test
    void whatDevicesMayDoIsKnownAboveThePoolAlone() {
        noClasses()
                .that()
                .resideInAPackage("io.bulla.registration")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "java..",
                        "jdk.jfr..",
                        "org.jspecify.annotations",
                        "io.bulla.refcount..",
                        "io.bulla.iovec",
                        "io.bulla.buffer..",
                        "io.bulla.pool..",
                        "io.bulla.registration")
                .check(CLASSES);
    }

    @Test
    void aFanoutKnowsNoTransport() {
        noClasses()
                .that()
                .resideInAPackage("io.bulla.fanout")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "java..",
                        "org.jspecify.annotations",
                        "io.bulla.refcount..",
                        "io.bulla.buffer",
                        "io.bulla.fanout")
                .check(CLASSES);
    }

    @Test
    void aClientOfALauncherNeedsFormatsAlone() {
        noClasses()
                .that()
                .resideInAPackage("io.bulla.runtime.pmix..")
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
                        "io.bulla.runtime.pmix..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.bulla.runtime.oob",
                        "io.bulla.runtime.oob.cut",
                        "io.bulla.runtime.oob.security",
                        "io.bulla.runtime.oob.internal..",
                        "io.bulla.runtime.pmix..")
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
                .resideInAnyPackage("io.bulla.pool..", "io.bulla.runtime..", "io.bulla.registration", "io.bulla.fabric")
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
                        "io.bulla.fabric", "io.bulla.registration", "io.bulla.runtime.oob.fabric", "io.bulla.pool..")
                .check(CLASSES);
    }

    @Test
    void nodesKnowNothingOfSharedSlabs() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.bulla.runtime.oob",
                        "io.bulla.runtime.oob.cut",
                        "io.bulla.runtime.oob.security",
                        "io.bulla.runtime.oob.internal..",
                        "io.bulla.posix..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.runtime.oob.local")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.bulla.runtime.oob",
                        "io.bulla.runtime.oob.cut",
                        "io.bulla.runtime.oob.security",
                        "io.bulla.runtime.oob.internal..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.posix..")
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
                        "io.bulla.refcount.internal",
                        "io.bulla.iovec",
                        "io.bulla.buffer",
                        "io.bulla.pack",
                        "io.bulla.runtime.oob",
                        "io.bulla.runtime.oob.cut",
                        "io.bulla.runtime.checkpoint")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage("io.bulla.runtime.oob..", "io.bulla.runtime.pmix..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.runtime.checkpoint")
                .check(CLASSES);
    }

    @Test
    void restrictedMethodsAreCalledInTwoRooms() {
        noClasses()
                .that()
                .resideOutsideOfPackages("io.bulla.posix.internal.calls", "io.bulla.fabric")
                .should()
                .callMethodWhere(JavaCall.Predicates.target(HasName.Predicates.name("reinterpret")
                        .or(HasName.Predicates.name("downcallHandle"))
                        .or(HasName.Predicates.name("libraryLookup"))))
                .check(CLASSES);
    }

    /// Its users have sockets, memory, files and loans; on the class path, too.
    @Test
    void systemCallsAreKnownToTheirModuleAlone() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.bulla.posix..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.bulla.posix.internal..")
                .check(CLASSES);
    }

    @Test
    void librariesStandOnTheJdk() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.bulla.refcount",
                        "io.bulla.iovec",
                        "io.bulla.buffer..",
                        "io.bulla.pack..",
                        "io.bulla.pool",
                        "io.bulla.fanout")
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
                .resideOutsideOfPackages("io.bulla.runtime.micrometer")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.micrometer..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages("io.bulla.runtime.image")
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
