// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.nio.file.Path;
import java.util.List;

/// The frame around a page's text: the search, the groups of pages, and the page's own headings.
final class Layout {

    /// A page with fewer headings needs no list of them.
    private static final int FEW = 3;

    private final List<Group> groups;

    Layout(List<Group> groups) {
        this.groups = groups;
    }

    /// The whole page.
    ///
    /// @param text of the page, as HTML
    String around(Page page, String text) {
        String root = root(page);
        return """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8">
                <meta name="viewport" content="width=device-width,initial-scale=1"><title>%s</title>
                <link rel="stylesheet" href="%ssite.css">
                </head><body data-root="%s">
                <input type="checkbox" id="menu">
                <nav class="side">
                <a class="brand" href="%sindex.html">Bulla</a><label class="menu" for="menu">Menu</label>
                <input id="search" type="search" placeholder="Search  ( / )" aria-label="Search" autocomplete="off">
                <ul id="found"></ul>
                <div class="groups">
                %s</div></nav>
                <main>
                %s</main>
                %s<script src="%shighlight.js" defer></script>
                <script src="%ssearch-index.js" defer></script>
                <script src="%ssearch.js" defer></script>
                </body></html>
                """.formatted(
                        Page.escaped(page.title() + (page.title().equals("Bulla") ? "" : " · Bulla")),
                        root,
                        root,
                        root,
                        sidebar(page, root),
                        text,
                        headings(text),
                        root,
                        root,
                        root);
    }

    private static String root(Page page) {
        return "../".repeat(page.target().getNameCount() - 1);
    }

    private String sidebar(Page here, String root) {
        StringBuilder links = new StringBuilder();
        for (Group group : groups) {
            links.append("<h2>").append(group.name()).append("</h2>\n");
            for (Page page : group.pages()) {
                links.append("<a ")
                        .append(style(page, here))
                        .append("href=\"")
                        .append(root)
                        .append(page.target().toString().replace('\\', '/'))
                        .append("\">")
                        .append(Page.escaped(page.target().equals(Path.of("index.html")) ? "Overview" : page.title()))
                        .append("</a>\n");
            }
            if (group.name().equals(Group.REFERENCE)) {
                links.append("<a href=\"").append(root).append("api/index.html\">API</a>\n");
            }
        }
        return links.toString();
    }

    private static String style(Page page, Page here) {
        boolean below = page.target().getNameCount() > 2 && !page.target().startsWith("docs/adr");
        String names = (below ? "sub " : "") + (page.equals(here) ? "now" : "");
        return names.isBlank() ? "" : "class=\"" + names.strip() + "\" ";
    }

    private static String headings(String text) {
        List<Section> second =
                Section.of(text).stream().filter(each -> each.level() == 2).toList();
        if (second.size() < FEW) {
            return "";
        }
        StringBuilder list = new StringBuilder("<nav class=\"here\"><b>On this page</b>\n");
        second.forEach(each -> list.append("<a href=\"#")
                .append(each.place())
                .append("\">")
                .append(Page.escaped(each.heading()))
                .append("</a>\n"));
        return list.append("</nav>\n").toString();
    }
}
