// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A heading of a page and the text below it, up to the next heading.
///
/// @param level 1 for the page's title
/// @param place its name in the page
/// @param heading as text
/// @param text without markup
record Section(int level, String place, String heading, String text) {

    /// A page with so many sections has a list of them.
    private static final int MANY = 5;

    private static final Pattern HEADING = Pattern.compile("<h([1-3]) id=\"([^\"]+)\">(.*?)</h\\1>", Pattern.DOTALL);

    /// @param html of a page's text
    static List<Section> of(String html) {
        List<Section> sections = new ArrayList<>();
        Matcher heading = HEADING.matcher(html);
        List<int[]> bounds = new ArrayList<>();
        while (heading.find()) {
            bounds.add(new int[] {heading.start(), heading.end()});
        }
        heading.reset();
        for (int i = 0; heading.find(); i++) {
            int end = i + 1 < bounds.size() ? bounds.get(i + 1)[0] : html.length();
            sections.add(new Section(
                    Integer.parseInt(heading.group(1)),
                    heading.group(2),
                    plain(heading.group(3)),
                    plain(html.substring(bounds.get(i)[1], end))));
        }
        return sections;
    }

    /// A line for each section of the second level that a long page does not link to from its list of contents.
    ///
    /// @param page below `docs`; others are short, or a list already
    /// @param html of the page's text
    static List<String> unlisted(Page page, List<Section> sections, String html) {
        List<Section> second =
                sections.stream().filter(each -> each.level() == 2).toList();
        if (second.size() < MANY || page.target().getNameCount() < 2) {
            return List.of();
        }
        return second.stream()
                .filter(each -> !html.contains("href=\"#" + each.place() + "\""))
                .map(each -> "site: not in the list of contents: page=" + page.target() + " section=" + each.heading())
                .toList();
    }

    /// As a row of the search's index.
    String row(Page page) {
        String address = page.target().toString().replace('\\', '/') + "#" + place;
        return "[" + quoted(page.title()) + "," + quoted(heading) + "," + quoted(address) + "," + quoted(text) + "]";
    }

    private static String plain(String html) {
        return html.replaceAll("<[^>]*>", " ")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&amp;", "&")
                .replaceAll("\\s+", " ")
                .strip();
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("</", "<\\/") + "\"";
    }
}
