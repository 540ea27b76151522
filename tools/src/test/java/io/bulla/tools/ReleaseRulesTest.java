// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReleaseRulesTest {

    private static final String PARENT = """
        <project>
          <groupId>g.h</groupId><artifactId>parent</artifactId><version>1</version><packaging>pom</packaging>
          <name>Parent</name><description>The parent.</description><url>https://example.org</url>
          <licenses><license><name>L</name><url>https://example.org/l</url></license></licenses>
          <developers><developer><name>D</name><organization>O</organization></developer></developers>
          <scm><connection>scm:git:a</connection><developerConnection>scm:git:a</developerConnection><url>a</url></scm>
        </project>
        """;
    private static final String CHILD = """
        <project>
          <parent><groupId>g.h</groupId><artifactId>parent</artifactId><version>1</version></parent>
          <artifactId>child</artifactId>
          <name>Child</name><description>The child.</description>
          <dependencies>
            <dependency><groupId>g.h</groupId><artifactId>tests</artifactId><scope>test</scope></dependency>
            <dependency><groupId>other</groupId><artifactId>other</artifactId></dependency>
          </dependencies>
        </project>
        """;

    @TempDir
    private Path bundle;

    private Path child;

    @BeforeEach
    void bundle() throws Exception {
        write(bundle.resolve("g/h/parent/1/parent-1.pom"), PARENT);
        child = bundle.resolve("g/h/child/1/child-1.pom");
        write(child, CHILD);
        for (String end : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
            jar(child.resolveSibling("child-1" + end), "a");
        }
    }

    private static void write(Path file, String text) throws Exception {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
        sign(file);
    }

    private static void jar(Path file, String entry) throws Exception {
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.putNextEntry(new ZipEntry(entry));
        }
        sign(file);
    }

    private static void sign(Path file) throws Exception {
        Files.writeString(Path.of(file + ".asc"), "-----BEGIN PGP SIGNATURE-----\n");
        for (String[] digest : new String[][] {{".md5", "MD5"}, {".sha1", "SHA-1"}}) {
            byte[] of = MessageDigest.getInstance(digest[1]).digest(Files.readAllBytes(file));
            Files.writeString(Path.of(file + digest[0]), HexFormat.of().formatHex(of) + "\n");
        }
    }

    private void broken(String... lines) throws IOException {
        assertEquals(List.of(lines), ReleaseRules.of(bundle));
    }

    @Test
    void whatTheParentHasIsInherited() throws IOException {
        broken();
    }

    @Test
    void whatIsMissingInThePomIsNamed() throws Exception {
        write(
                bundle.resolve("g/h/parent/1/parent-1.pom"),
                PARENT.replaceAll("<url>https://example.org</url>|<scm>.*</scm>", ""));
        broken(
                "release: child: no url",
                "release: child: no scm/connection",
                "release: child: no scm/developerConnection",
                "release: child: no scm/url",
                "release: parent: no url",
                "release: parent: no scm/connection",
                "release: parent: no scm/developerConnection",
                "release: parent: no scm/url");
    }

    @Test
    void aNameIsEachArtifactsOwn() throws Exception {
        write(child, CHILD.replace("<name>Child</name>", "<name> </name>"));
        broken("release: child: no name");
    }

    @Test
    void snapshotsAndRepositoriesAreRefused() throws Exception {
        write(
                child,
                CHILD.replace("<name>", "<version>2-SNAPSHOT</version><repositories><a>b</a></repositories><name>"));
        broken(
                "release: child: a repository of its own",
                "release: child: a snapshot version=2-SNAPSHOT",
                "release: child: in another folder than g/h/child/2-SNAPSHOT",
                "release: child: no child-2-SNAPSHOT.jar",
                "release: child: no child-2-SNAPSHOT-sources.jar",
                "release: child: no child-2-SNAPSHOT-javadoc.jar");
    }

    @Test
    void whatAUserNeedsIsInTheBundle() throws Exception {
        write(child, CHILD.replace("<scope>test</scope>", ""));
        broken("release: child: needs what is not in the bundle: artifact=tests");
    }

    @Test
    void emptyAndMissingJarsAreNamed() throws Exception {
        for (String end : List.of("", ".asc", ".md5", ".sha1")) {
            Files.delete(child.resolveSibling("child-1-javadoc.jar" + end));
        }
        jar(child.resolveSibling("child-1-sources.jar"), "META-INF/MANIFEST.MF");
        broken("release: child: nothing in child-1-sources.jar", "release: child: no child-1-javadoc.jar");
    }

    @Test
    void everyFileIsSignedAndHasItsDigests() throws Exception {
        Files.delete(child.resolveSibling("child-1.jar.asc"));
        Files.delete(child.resolveSibling("child-1-javadoc.jar.sha1"));
        Files.writeString(child.resolveSibling("child-1.pom.md5"), "00");
        broken(
                "release: no SHA-1: file=g/h/child/1/child-1-javadoc.jar",
                "release: no signature: file=g/h/child/1/child-1.jar",
                "release: another MD5: file=g/h/child/1/child-1.pom");
    }

    @Test
    void anEmptyBundleIsNone(@TempDir Path empty) throws IOException {
        assertEquals(List.of("release: no POM in the bundle: folder=" + empty), ReleaseRules.of(empty));
    }
}
