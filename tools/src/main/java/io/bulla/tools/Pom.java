// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/// A POM as it is published, before anything is inherited.
///
/// @param file where it is
/// @param project its root
record Pom(Path file, Element project) {

    /// What an artifact has, itself or by its parent. A slash is a step down.
    static final List<String> REQUIRED = List.of(
            "name",
            "description",
            "url",
            "licenses/license/name",
            "licenses/license/url",
            "developers/developer/name",
            "developers/developer/organization",
            "scm/connection",
            "scm/developerConnection",
            "scm/url");

    static Pom of(Path file) throws IOException {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            return new Pom(
                    file, factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement());
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException("not a POM: file=" + file, e);
        }
    }

    String group() {
        return text("groupId").or(() -> text("parent/groupId")).orElse("");
    }

    String artifact() {
        return text("artifactId").orElse("");
    }

    String version() {
        return text("version").or(() -> text("parent/version")).orElse("");
    }

    String coordinates() {
        return group() + ":" + artifact() + ":" + version();
    }

    Optional<String> parent() {
        return text("parent/artifactId")
                .map(artifact -> text("parent/groupId").orElse("") + ":" + artifact + ":"
                        + text("parent/version").orElse(""));
    }

    boolean isJar() {
        return text("packaging").orElse("jar").equals("jar");
    }

    boolean has(String path) {
        return find(project, path)
                .filter(element -> !element.getTextContent().isBlank())
                .isPresent();
    }

    /// Artifacts of this project that a user of this one gets, too.
    List<String> neededOfTheSameGroup() {
        List<String> needed = new ArrayList<>();
        find(project, "dependencies")
                .ifPresent(all -> children(all).stream()
                        .filter(each -> text(each, "groupId").equals(Optional.of(group())))
                        .filter(each -> !text(each, "scope").equals(Optional.of("test")))
                        .forEach(each -> needed.add(text(each, "artifactId").orElse(""))));
        parent().ifPresent(parent -> needed.add(parent.split(":")[1]));
        return needed;
    }

    private Optional<String> text(String path) {
        return text(project, path);
    }

    private static Optional<String> text(Element from, String path) {
        return find(from, path).map(element -> element.getTextContent().strip());
    }

    private static Optional<Element> find(Element from, String path) {
        Optional<Element> at = Optional.of(from);
        for (String step : path.split("/")) {
            at = at.flatMap(element -> children(element).stream()
                    .filter(child -> child.getTagName().equals(step))
                    .findFirst());
        }
        return at;
    }

    private static List<Element> children(Element of) {
        List<Element> children = new ArrayList<>();
        for (Node node = of.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element) {
                children.add(element);
            }
        }
        return children;
    }
}
