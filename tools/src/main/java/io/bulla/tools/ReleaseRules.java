// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

/// Checks a bundle against the rules of Maven Central: `ReleaseRules BUNDLE` prints a line for each artifact and each
/// rule that is broken. A bundle has the layout of a Maven repository.
///
/// - Each POM has, itself or from its parent in the bundle, a name, a description, a URL, licences, developers and
///   where its sources are. No POM names a repository of its own.
/// - No version is a snapshot, and what a POM needs of this project is in the bundle too.
/// - Beside a jar lie one with its sources and one with its Javadoc, none of them empty.
/// - Each file has a signature, an MD5 and a SHA-1 that fit.
///
/// They are the rules of <https://central.sonatype.org/publish/requirements/>. Whether a signature is good is GnuPG's
/// to say: `ci/release` asks it.
public final class ReleaseRules {

    private static final Map<String, String> DIGESTS = Map.of(".md5", "MD5", ".sha1", "SHA-1");

    private final Path bundle;
    private final Map<String, Pom> poms = new TreeMap<>();
    private final List<String> broken = new ArrayList<>();

    private ReleaseRules(Path bundle) {
        this.bundle = bundle;
    }

    /// Runs the command; the exit code is 1 if a rule is broken, 2 if it was called wrongly.
    ///
    /// @param args the bundle's folder
    /// @throws IOException if a file cannot be read
    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("release: call: BUNDLE");
            System.exit(2);
        }
        List<String> broken = of(Path.of(args[0]));
        broken.forEach(System.err::println);
        if (!broken.isEmpty()) {
            System.exit(1);
        }
    }

    /// A line for each rule that a bundle breaks.
    static List<String> of(Path bundle) throws IOException {
        ReleaseRules rules = new ReleaseRules(bundle);
        rules.read();
        for (Pom pom : rules.poms.values()) {
            rules.checkPom(pom);
            rules.checkJars(pom);
        }
        rules.checkFiles();
        if (rules.poms.isEmpty()) {
            rules.broken.add("release: no POM in the bundle: folder=" + bundle);
        }
        return rules.broken;
    }

    private void read() throws IOException {
        for (Path file : files()) {
            if (file.toString().endsWith(".pom")) {
                Pom pom = Pom.of(file);
                poms.put(pom.coordinates(), pom);
            }
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(bundle)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private void checkPom(Pom pom) {
        for (String wanted : Pom.REQUIRED) {
            if (!has(pom, wanted)) {
                rule(pom, "no " + wanted);
            }
        }
        if (pom.has("repositories") || pom.has("pluginRepositories")) {
            rule(pom, "a repository of its own");
        }
        if (pom.version().contains("SNAPSHOT")) {
            rule(pom, "a snapshot version=" + pom.version());
        }
        Path wanted = bundle.resolve(pom.group().replace('.', '/'))
                .resolve(pom.artifact())
                .resolve(pom.version());
        if (!pom.file().getParent().equals(wanted)) {
            rule(pom, "in another folder than " + bundle.relativize(wanted));
        }
        for (String needed : pom.neededOfTheSameGroup()) {
            if (poms.values().stream().noneMatch(each -> each.artifact().equals(needed))) {
                rule(pom, "needs what is not in the bundle: artifact=" + needed);
            }
        }
    }

    private boolean has(Pom pom, String path) {
        for (Pom each = pom; each != null; each = each.parent().map(poms::get).orElse(null)) {
            if (each.has(path)) {
                return true;
            }
            // a name and a description are each artifact's own
            if (path.equals("name") || path.equals("description")) {
                return false;
            }
        }
        return false;
    }

    private void checkJars(Pom pom) throws IOException {
        if (!pom.isJar()) {
            return;
        }
        for (String end : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
            Path jar = pom.file().resolveSibling(pom.artifact() + "-" + pom.version() + end);
            if (!Files.exists(jar)) {
                rule(pom, "no " + jar.getFileName());
            } else if (isEmpty(jar)) {
                rule(pom, "nothing in " + jar.getFileName());
            }
        }
    }

    private static boolean isEmpty(Path jar) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            return zip.stream()
                    .allMatch(entry -> entry.isDirectory() || entry.getName().startsWith("META-INF/MANIFEST"));
        }
    }

    private void checkFiles() throws IOException {
        for (Path file : files()) {
            String name = file.getFileName().toString();
            if (name.endsWith(".asc") || DIGESTS.keySet().stream().anyMatch(name::endsWith)) {
                continue;
            }
            Path signature = file.resolveSibling(name + ".asc");
            if (!Files.exists(signature) || !Files.readString(signature).startsWith("-----BEGIN PGP SIGNATURE-----")) {
                broken.add("release: no signature: file=" + bundle.relativize(file));
            }
            for (Map.Entry<String, String> digest : DIGESTS.entrySet()) {
                Path beside = file.resolveSibling(name + digest.getKey());
                if (!Files.exists(beside)) {
                    broken.add("release: no " + digest.getValue() + ": file=" + bundle.relativize(file));
                } else if (!Files.readString(beside).strip().equals(digest(file, digest.getValue()))) {
                    broken.add("release: another " + digest.getValue() + ": file=" + bundle.relativize(file));
                }
            }
        }
    }

    private static String digest(Path file, String algorithm) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void rule(Pom pom, String what) {
        broken.add("release: " + pom.artifact() + ": " + what);
    }
}
