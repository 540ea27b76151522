// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.util.ArrayList;
import java.util.List;

/// A part of the site's sidebar.
///
/// @param name above its pages
/// @param pages in the order in which a new reader needs them
record Group(String name, List<Page> pages) {

    /// Has the Javadoc, too.
    static final String REFERENCE = "Reference";

    private static final String REST = "Concepts";

    /// What belongs where: pages of the site, or folders of pages.
    private record Place(String group, List<String> pages) {

        /// A page's rank in the group, or -1: it belongs elsewhere.
        private int rank(Page page) {
            String target = page.target().toString().replace('\\', '/');
            for (int i = 0; i < pages.size(); i++) {
                String each = pages.get(i);
                if (each.endsWith("/") ? target.startsWith(each) : target.equals(each)) {
                    return i;
                }
            }
            return -1;
        }
    }

    private static final List<Place> PLACES = List.of(
            new Place(
                    "Start",
                    List.of(
                            "index.html",
                            "docs/getting-started.html",
                            "docs/reading.html",
                            "docs/glossary.html",
                            "docs/compatibility.html",
                            "docs/platforms.html")),
            new Place(
                    REST,
                    List.of(
                            "docs/architecture.html",
                            "docs/memory-model.html",
                            "docs/misuse.html",
                            "docs/failure.html",
                            "docs/debugging.html",
                            "docs/oob.html",
                            "docs/launchers.html",
                            "docs/kubernetes.html",
                            "docs/security.html")),
            new Place(
                    REFERENCE,
                    List.of(
                            "docs/wire-format.html",
                            "docs/performance.html",
                            "docs/performance/",
                            "docs/scoreboard.html",
                            "docs/peers.html",
                            "docs/ancestor-bugs.html")),
            new Place("Decisions", List.of("docs/adr/")),
            new Place("Project", List.of("CHANGELOG.html", "CONTRIBUTING.html")));

    /// All pages in groups; a page that no group names is a concept.
    static List<Group> of(List<Page> pages) {
        List<Group> groups = new ArrayList<>();
        for (Place place : PLACES) {
            List<Page> mine = new ArrayList<>();
            for (int rank = 0; rank < place.pages().size(); rank++) {
                int wanted = rank;
                pages.stream().filter(page -> place.rank(page) == wanted).forEach(mine::add);
            }
            if (place.group().equals(REST)) {
                pages.stream()
                        .filter(page -> PLACES.stream().allMatch(each -> each.rank(page) < 0))
                        .forEach(mine::add);
            }
            if (!mine.isEmpty() || place.group().equals(REFERENCE)) {
                groups.add(new Group(place.group(), mine));
            }
        }
        return groups;
    }
}
