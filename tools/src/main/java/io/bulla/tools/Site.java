// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

/// The documents as a site: `Site ROOT OUT` renders every Markdown file of the root and of `docs/` beside the Javadoc
/// that stands in `OUT/api`, copies what they show and link to, and fails if a link leads nowhere, or if a long page
/// does not list its sections.
///
/// ```
/// README.md            --> index.html             docs/adr/0001-x.md --> docs/adr/0001-x.html
/// .../main/java/X.java --> api/.../X.html         any other file     --> copied to the same place
/// a folder             --> index.html in it, a list of its files
/// ```
///
/// Each page has the [groups][Group] of all pages beside it, and a search: `search-index.js` has every section's
/// text.
public final class Site {

    private static final String HIGHLIGHT = "/META-INF/resources/webjars/highlightjs/%s/highlight.min.js";
    private static final String HIGHLIGHT_VERSION = "/META-INF/maven/org.webjars/highlightjs/pom.properties";

    private final Path root;
    private final Path out;

    private Site(Path root, Path out) {
        this.root = root.toAbsolutePath().normalize();
        this.out = out.toAbsolutePath().normalize();
    }

    /// Runs the command; the exit code is 1 if a link leads nowhere or a list lacks a section, 2 if it was called
    /// wrongly.
    ///
    /// @param args the project's folder and the site's
    /// @throws IOException if a file cannot be read or written
    public static void main(String[] args) throws IOException {
        if (args.length != 2) {
            System.err.println("site: call: ROOT OUT");
            System.exit(2);
        }
        if (!new Site(Path.of(args[0]), Path.of(args[1])).make()) {
            System.exit(1);
        }
    }

    private boolean make() throws IOException {
        List<Page> pages = pages(root);
        Layout layout = new Layout(Group.of(pages));
        List<String> rows = new ArrayList<>();
        List<String> unlisted = new ArrayList<>();
        for (Page page : pages) {
            Path target = out.resolve(page.target());
            Files.createDirectories(target.getParent());
            String text = page.html(destination -> resolve(page, destination));
            Files.writeString(target, layout.around(page, text));
            List<Section> sections = Section.of(text);
            sections.forEach(section -> rows.add(section.row(page)));
            unlisted.addAll(Section.unlisted(page, sections, text));
        }
        Files.writeString(
                out.resolve("search-index.js"), "window.BULLA_SECTIONS=[\n" + String.join(",\n", rows) + "\n];\n");
        brought("site.css", "site.css");
        brought("search.js", "search.js");
        brought(HIGHLIGHT.formatted(highlightVersion()), "highlight.js");
        copyPictures();
        Links links = Links.of(out, pages);
        links.broken().forEach(System.err::println);
        unlisted.forEach(System.err::println);
        System.out.println("site: pages=" + pages.size() + " sections=" + rows.size() + " links=" + links.checked()
                + " external=" + links.external() + " broken=" + links.broken().size());
        return links.broken().isEmpty() && unlisted.isEmpty();
    }

    /// A file of this program's, or of a library's.
    private void brought(String resource, String name) throws IOException {
        try (InputStream in = Site.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new NoSuchFileException(resource);
            }
            Files.copy(in, out.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static String highlightVersion() throws IOException {
        Properties names = new Properties();
        try (InputStream in = Site.class.getResourceAsStream(HIGHLIGHT_VERSION)) {
            names.load(in);
        }
        return names.getProperty("version");
    }

    /// All documents: README and getting started, the other documents, then decisions and changes.
    static List<Page> pages(Path root) throws IOException {
        List<Path> documents =
                new ArrayList<>(List.of(root.resolve("README.md"), root.resolve("docs/getting-started.md")));
        try (Stream<Path> all = Files.walk(root.resolve("docs"))) {
            all.filter(each -> each.toString().endsWith(".md") && !documents.contains(each))
                    .sorted(Comparator.comparing(Path::getNameCount).thenComparing(Comparator.naturalOrder()))
                    .forEach(documents::add);
        }
        documents.add(root.resolve("CHANGELOG.md"));
        documents.add(root.resolve("CONTRIBUTING.md"));
        List<Page> pages = new ArrayList<>();
        for (Path document : documents) {
            pages.add(Page.of(root, document));
        }
        return pages;
    }

    /// Where a link of a document leads in the site; what is only in the repository is copied there.
    private String resolve(Page page, String destination) {
        if (destination.matches("[a-z]+:.*") || destination.startsWith("#")) {
            return destination;
        }
        String[] parts = destination.split("#", 2);
        String fragment = parts.length == 2 ? "#" + parts[1] : "";
        Path file = page.source().resolveSibling(parts[0]).normalize();
        Path here = out.resolve(page.target()).getParent();
        Path there = out.resolve(Page.targetOf(root, file));
        if (Files.isDirectory(file)) {
            there = listed(file, there);
        } else if (Files.isRegularFile(file) && !there.toString().endsWith(".html")) {
            there = copied(file, there);
        }
        return here.relativize(there).toString().replace('\\', '/') + fragment;
    }

    private Path copied(Path file, Path there) {
        String path = root.relativize(file).toString().replace('\\', '/');
        int java = path.indexOf("src/main/java/");
        if (java >= 0) {
            Path documented = out.resolve("api")
                    .resolve(path.substring(java + "src/main/java/".length()).replaceFirst("\\.java$", ".html"));
            if (Files.exists(documented)) {
                return documented;
            }
        }
        try {
            Files.createDirectories(there.getParent());
            Files.copy(file, there, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return there;
    }

    /// A page that lists a folder's files, which are copied beside it.
    private Path listed(Path folder, Path there) {
        StringBuilder list =
                new StringBuilder("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Files</title>\n<ul>\n");
        try (Stream<Path> files = Files.list(folder)) {
            Files.createDirectories(there);
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                String name = Path.of(Page.targetOf(root, file)).getFileName().toString();
                if (!name.endsWith(".html")) {
                    copied(file, there.resolve(name));
                }
                list.append("<li><a href=\"" + name + "\">" + name + "</a></li>\n");
            }
            return Files.writeString(there.resolve("index.html"), list.append("</ul>\n"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void copyPictures() throws IOException {
        try (Stream<Path> files = Files.walk(root.resolve("docs"))) {
            for (Path file : files.filter(each -> each.toString().matches(".*\\.(svg|png)"))
                    .toList()) {
                copied(file, out.resolve(root.relativize(file)));
            }
        }
    }
}
