// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants.generated;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.xml.sax.SAXException;

/// One change that PIT made to a class, and what came of it.
///
/// @param place  where it is, in words that outlive a change elsewhere in the file
/// @param top  the class that its source is named after, in full
/// @param inClass  the class as the class file names it
/// @param inMethod  the method as the class file names it
/// @param outcome  PIT's word
/// @param said  what PIT did there, and the line
record Change(Place place, String top, String inClass, String inMethod, Outcome outcome, String said) {

    /// What PIT says of a change.
    enum Outcome {
        KILLED,
        SURVIVED,
        NO_COVERAGE,
        TIMED_OUT,
        MEMORY_ERROR,
        RUN_ERROR,
        NON_VIABLE,
        NOT_STARTED,
        STARTED;

        boolean isKilled() {
            return this == KILLED || this == NON_VIABLE;
        }

        /// A slow machine may be the reason: it is looked at again.
        boolean isDoubtful() {
            return !isKilled() && this != SURVIVED && this != NO_COVERAGE;
        }

        boolean hasRun() {
            return this != NOT_STARTED && this != STARTED;
        }
    }

    /// @param type  without its package, which may change
    /// @param method  a lambda's is the one around it
    /// @param mutator  PIT's, and which one it is where a line has several of the kind
    /// @param line  the source's text
    record Place(String type, String method, String mutator, String line) {

        @Override
        public String toString() {
            return String.join("\t", type, method, mutator, line);
        }
    }

    Change with(Outcome other) {
        return new Change(place, top, inClass, inMethod, other, said);
    }

    /// Those of a report, in the order of the class files.
    ///
    /// @param sources  the folder that the packages begin in
    static List<Change> read(Path report, Path sources) throws IOException {
        var found = new ArrayList<Change>();
        var texts = new HashMap<Path, List<String>>();
        for (Element each : elements(report)) {
            String inClass = text(each, "mutatedClass");
            String packageOf = inClass.substring(0, inClass.lastIndexOf('.') + 1);
            String file = text(each, "sourceFile");
            Path source = sources.resolve(packageOf.replace('.', '/')).resolve(file);
            List<String> lines = texts.get(source);
            if (lines == null) {
                lines = Files.readAllLines(source);
                texts.put(source, lines);
            }
            int number = Integer.parseInt(text(each, "lineNumber"));
            String inMethod = text(each, "mutatedMethod");
            String line = lines.get(number - 1).strip();
            String mutator = text(each, "mutator").replaceFirst(".*\\.", "").replaceFirst("Mutator$", "");
            if (changesNothing(mutator, line)) {
                continue;
            }
            found.add(new Change(
                    new Place(
                            inClass.substring(packageOf.length()),
                            inMethod.replaceFirst("^lambda\\$(.*)\\$\\d+$", "$1"),
                            mutator,
                            line),
                    packageOf + file.replace(".java", ""),
                    inClass,
                    inMethod,
                    Outcome.valueOf(each.getAttribute("status")),
                    text(each, "description") + ": " + file + ":" + number + ": " + line));
        }
        return numbered(found);
    }

    /// Whether a value is returned in place of the same one: where a lock ends before the return, PIT does not see
    /// it.
    static boolean changesNothing(String mutator, String line) {
        return switch (mutator) {
            case "BooleanFalseReturnVals" -> line.equals("return false;");
            case "BooleanTrueReturnVals" -> line.equals("return true;");
            case "NullReturnVals" -> line.equals("return null;");
            default -> false;
        };
    }

    // a line may have several of a kind: then each has its number
    private static List<Change> numbered(List<Change> changes) {
        Map<Place, Integer> all = new HashMap<>();
        Map<Place, Integer> before = new HashMap<>();
        changes.forEach(each -> all.merge(each.place, 1, Integer::sum));
        var numbered = new ArrayList<Change>();
        for (Change each : changes) {
            Place place = each.place;
            int count = all.get(place);
            if (count > 1) {
                String which = " " + before.merge(place, 1, Integer::sum) + "/" + count;
                place = new Place(place.type, place.method, place.mutator + which, place.line);
            }
            numbered.add(new Change(place, each.top, each.inClass, each.inMethod, each.outcome, each.said));
        }
        return numbered;
    }

    private static List<Element> elements(Path report) throws IOException {
        try {
            var nodes = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(report.toFile())
                    .getElementsByTagName("mutation");
            var elements = new ArrayList<Element>();
            for (int i = 0; i < nodes.getLength(); i++) {
                elements.add((Element) nodes.item(i));
            }
            elements.sort(Comparator.comparing((Element each) -> text(each, "mutatedClass"))
                    .thenComparing(each -> text(each, "mutatedMethod"))
                    .thenComparing(each -> text(each, "methodDescription"))
                    .thenComparing(each -> Integer.parseInt(text(each, "index"))));
            return elements;
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException("no report: file=" + report, e);
        }
    }

    private static String text(Element of, String name) {
        return of.getElementsByTagName(name).item(0).getTextContent();
    }
}
