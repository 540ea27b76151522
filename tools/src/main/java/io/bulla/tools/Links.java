// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Looks up every link of the site's own pages: the file that it names, and the place in it.
final class Links {

    private static final Pattern LINK = Pattern.compile("(?:href|src)=\"([^\"]+)\"");
    private static final Pattern PLACE = Pattern.compile("\\b(?:id|name)=\"([^\"]+)\"");

    private final List<String> broken = new ArrayList<>();
    private final Map<Path, Set<String>> places = new HashMap<>();
    private int checked;
    private int external;

    private Links() {}

    static Links of(Path out, List<Page> pages) throws IOException {
        Links links = new Links();
        for (Page page : pages) {
            Matcher link = LINK.matcher(Files.readString(out.resolve(page.target())));
            while (link.find()) {
                links.check(out, page, link.group(1).replace("&amp;", "&"));
            }
        }
        return links;
    }

    /// A line for each link that leads nowhere.
    List<String> broken() {
        return broken;
    }

    int checked() {
        return checked;
    }

    /// Links to other sites, which are not looked up.
    int external() {
        return external;
    }

    private void check(Path out, Page page, String link) throws IOException {
        if (link.matches("[a-z]+:.*")) {
            external++;
            return;
        }
        checked++;
        String[] parts = link.split("#", 2);
        Path self = out.resolve(page.target());
        Path file = parts[0].isEmpty() ? self : self.resolveSibling(parts[0]).normalize();
        if (!file.startsWith(out) || !Files.isRegularFile(file)) {
            broken.add("site: broken link: page=" + page.target() + " link=" + link + " missing=file");
        } else if (parts.length == 2 && !placesOf(file).contains(URLDecoder.decode(parts[1], StandardCharsets.UTF_8))) {
            broken.add("site: broken link: page=" + page.target() + " link=" + link + " missing=place");
        }
    }

    private Set<String> placesOf(Path file) throws IOException {
        Set<String> known = places.get(file);
        if (known == null) {
            known = new HashSet<>();
            Matcher place = PLACE.matcher(Files.readString(file));
            while (place.find()) {
                known.add(place.group(1));
            }
            places.put(file, known);
        }
        return known;
    }
}
